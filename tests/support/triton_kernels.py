"""A candidate in Triton, and the mark of tests that compile one: the extra may not be installed."""

from __future__ import annotations

import importlib.util

import pytest

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="the extra `triton` is not installed"
)
SCALED = '''"""/*+++
[[launch]]
kernel = "scaled"
grid = ["ceil_div(rows * cols, BLOCK)"]
args = ["x", "y", "rows * cols"]
constants = {BLOCK = "BLOCK", FACTOR = 2.0}

[tunables]
BLOCK = [256, 512]
+++*/"""

import os

import triton
import triton.language as tl


@triton.jit
def _times(value, factor):
    return value * factor


@triton.autotune(configs=[], key=[])
@triton.jit
def scaled(x, y, count, BLOCK: tl.constexpr, FACTOR: tl.constexpr = 1.0):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + place, mask=place < count)
    tl.store(y + place, _times(value, FACTOR), mask=place < count)


raise RuntimeError(os.name)  # the file itself is never run
'''


def line_of(text: str) -> int:
    """The line of the first kernel file above that holds a text."""
    return SCALED[: SCALED.index(text)].count("\n") + 1
