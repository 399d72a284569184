"""The benchmark hub's convolution with a filter of 15 by 15 through LDS, on one GCD of an MI250X, by tile and block."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.clock.kernel_family import KernelFamily
from benchmarks.clock.kernel_tuner import REPOSITORY, source, tunables

REPOSITORIES = (REPOSITORY,)
PLAN = """[[launch]]
kernel = "convolution_kernel"
grid = ["ceil_div(n, block_size_x * tile_size_x)", "ceil_div(n, block_size_y * tile_size_y)"]
block = ["block_size_x", "block_size_y"]
args = ["y", "x", "w"]
symbol = {d_filter = "w"}

"""


def code(fetched: Path, kernel: str) -> str:
    """Return the file as it is, whose image has 4096 by 4096 points."""
    return source(fetched, "convolution_milo.cu.hip")


def resized(text: str, n: int) -> str:
    """Give the code for an image of n by n points: to judge it on one that is soon done, never to predict its time."""
    return re.sub(r"(?m)^#define image_(height|width) 4096$", rf"#define image_\1 {n}", text)


def plan(kernel: str) -> str:
    """Plan a workgroup a tile, the filter as a constant."""
    return PLAN + tunables(kernel)


points = KernelFamily("convolution_milo", REPOSITORY, code, plan).points
