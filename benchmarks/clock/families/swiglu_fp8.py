"""Hugging Face's SwiGLU with FP8 on an MI300X, by rows; the kernel is ours.

A row's kernel is as "threads=256": the work-items of a workgroup.
"""

from __future__ import annotations

from benchmarks.clock.kernel_family import KernelFamily

REPOSITORIES = ()
PLAN = """[[launch]]
kernel = "swiglu_fp8"
grid = ["ceil_div(rows * cols // 8, {threads})"]
block = [{threads}]
args = ["x", "scale", "y", "rows", "cols"]
"""


def plan(kernel: str) -> str:
    """Plan work-items that make eight numbers each."""
    return PLAN.format(threads=int(kernel.removeprefix("threads=")))


points = KernelFamily("swiglu_fp8", plan=plan).points
