"""The benchmark hub's dedispersion, sums over shifted channels of bytes, on one GCD of an MI250X, by tile and block."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.clock.kernel_family import KernelFamily
from benchmarks.clock.kernel_tuner import REPOSITORY, source, tunables

REPOSITORIES = (REPOSITORY,)
PLAN = """[[launch]]
kernel = "dedispersion_kernel"
grid = ["ceil_div(samples, block_size_x * tile_size_x)", "ceil_div(measures, block_size_y * tile_size_y)"]
block = ["block_size_x", "block_size_y"]
args = ["x", "y", "shifts"]

"""
HEADER = '#include "dedispersion.h"\n'
UNROLL = "#pragma unroll loop_unroll_factor_channel"


def code(fetched: Path, kernel: str) -> str:
    """Give the file with its header in place, without the pragma that Kernel Tuner takes out where its factor is 0."""
    text = source(fetched, "dedisp_milo/dedispersion.cu.hip")
    return text.replace(HEADER, source(fetched, "dedisp_milo/dedispersion.h") + "\n").replace(UNROLL, "")


def resized(text: str, measures: int, samples: int, channels: int) -> str:
    """Return the code for other sizes: to judge it on ones that are soon done, never to predict its time."""
    for name, size in (("nr_dms", measures), ("nr_samples", samples), ("nr_channels", channels)):
        text = re.sub(rf"(?m)^#define {name} \d+$", f"#define {name} {size}", text)
    return text


def plan(kernel: str) -> str:
    """Plan a workgroup a tile of samples by measures of dispersion."""
    return PLAN + tunables(kernel)


points = KernelFamily("dedispersion_milo", REPOSITORY, code, plan).points
