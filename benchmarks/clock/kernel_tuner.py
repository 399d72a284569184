"""Kernel Tuner's spaces, as the benchmark hub publishes them: a file of macros and a time for each set of their values.

A row's kernel is the values by name, as in "block_size_x=64,tile_size_x=2". They become the plan's tunables, each with
one value, so that the compiler gets the macros that Kernel Tuner writes before the file.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.clock.rows import read_dims

REPOSITORY = "AutoTuningAssociation/benchmark_hub"
FILES = "kernels"


def source(fetched: Path, path: str) -> str:
    """Read a file of the hub's kernels."""
    return (fetched / FILES / path).read_text(encoding="utf-8")


def tunables(kernel: str) -> str:
    """Write the part of a plan that defines a row's macros."""
    return "[tunables]\n" + "".join(f"{name} = [{value}]\n" for name, value in read_dims(kernel).items())
