"""RRZE's gpu-small-kernels: launches of a scaling one behind the other on an MI210, by length and size of a workgroup.

A row's kernel is as "block=256". The plan says that no launch waits for its grid, as other kernels of the file do.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.clock.gpu_benches import REPOSITORY
from benchmarks.clock.kernel_family import KernelFamily

REPOSITORIES = (REPOSITORY,)
PLAN = """[[launch]]
kernel = "scale<double>"
grid = ["n // {block} + 1"]
block = [{block}]
args = ["a", "b", "n"]
cooperative = false
"""


def code(fetched: Path, kernel: str) -> str:
    """Return the file as it is."""
    return (fetched / "gpu-small-kernels" / "main.cu").read_text(encoding="utf-8")


def plan(kernel: str) -> str:
    """Plan a work-item a number."""
    return PLAN.format(block=int(kernel.removeprefix("block=")))


points = KernelFamily("stream_small", REPOSITORY, code, plan).points
