"""AMD's training examples: three transposes of doubles on an MI210.

A row's kernel is the ending of the file's name: read_contiguous, write_contiguous or tiled.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.clock.kernel_family import KernelFamily

REPOSITORIES = ("amd/HPCTrainingExamples",)
HEADER = "transpose_kernels.h"
PLAN = """[[launch]]
kernel = "transpose_kernel_{kernel}"
grid = ["ceil_div(n, 32)", "ceil_div(n, 32)"]
block = [32, 32]
args = ["x", "y", "n", "n"]
"""


def code(fetched: Path, kernel: str) -> str:
    """Return the kernel's file with its header in place."""
    folder = fetched / "HIP" / "transpose"
    header = (folder / HEADER).read_text(encoding="utf-8")
    text = (folder / f"transpose_kernel_{kernel}.cpp").read_text(encoding="utf-8")
    return text.replace(f'#include "{HEADER}"', header)


def plan(kernel: str) -> str:
    """Plan a work-item an element, in tiles of 32 by 32."""
    return PLAN.format(kernel=kernel)


points = KernelFamily("transpose_f64", REPOSITORIES[0], code, plan).points
