"""Hugging Face's residual connection with RMS norm and FP8 on an MI300X, by rows; the kernel is ours.

A row's kernel is as "threads=1024": the work-items of a workgroup.
"""

from __future__ import annotations

from benchmarks.clock.kernel_family import KernelFamily

REPOSITORIES = ()
PLAN = """[[launch]]
kernel = "rms_norm_fp8"
grid = ["rows"]
block = [{threads}]
args = ["x", "r", "w", "scale", "y", 1e-5, "cols"]
"""


def plan(kernel: str) -> str:
    """Plan a workgroup a row."""
    return PLAN.format(threads=int(kernel.removeprefix("threads=")))


points = KernelFamily("rms_norm_fp8", plan=plan).points
