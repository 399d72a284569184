"""Transposed reads through LDS: which loads are staged, along which axis the lanes lie, and what is left alone."""

from __future__ import annotations

import pytest

from agents.playbook.tile_moves import tile_in_lds, tile_variants
from agents.source import KernelFile, read

ARCH = "gfx942"
TEXT = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 8)"]
block = [32, 8]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= cols || r >= rows) return;
    BODY
}
"""


def kernel(body: str) -> KernelFile:
    return read(TEXT.replace("BODY", body))


@pytest.mark.parametrize(
    ("body", "staged", "lanes"),
    [
        ("y[c * rows + r] = x[r * cols + c];", "x[r * cols + c]", "r"),
        ("y[r * cols + c] = x[c * rows + r];", "x[c * rows + r]", "c"),
        (
            "const size_t to = (size_t)c * rows + r; const float v = x[cols * r + c]; y[to] = v * v;",
            "x[cols * r + c]",
            "r",
        ),
        ("const int from = r * cols + c; y[r + c * rows] += 2 * x[from];", "x[from]", "r"),
    ],
)
def test_lanes_lie_along_the_stores(body: str, staged: str, lanes: str) -> None:
    file = kernel(body)
    assert tile_variants(file, ARCH, frozenset()) == ("k",)
    changed = read(tile_in_lds(file, "k"))
    axis = {"c": "x", "r": "y"}
    assert f"tile_0[tile_line][threadIdx.x] = {staged};" in changed.code
    assert f"{lanes} = blockIdx.{axis[lanes]} * TILE + threadIdx.x" in changed.code
    assert changed.plan["launch"][0]["block"] == ["TILE", "LINES"]
    assert changed.plan["launch"][0]["grid"] == ["ceil_div(cols, TILE)", "ceil_div(rows, TILE)"]
    assert tile_variants(changed, ARCH, frozenset()) == ()


@pytest.mark.parametrize(
    "body",
    [
        "y[r * cols + c] = x[r * cols + c];",  # nothing is transposed
        "y[c * rows + r] = c < 3 ? x[r * cols + c] : 0;",  # not read by every work-item
        "float v = 0; if (c < 3) v = x[r * cols + c]; y[c * rows + r] = v;",
        "y[c * rows + r] = x[r * cols + c]; y[r * cols + c] = 0;",  # stores along both
        "y[c * rows + r] = y[r * cols + c];",  # read where another one writes
        "int at = r * cols; at += c; y[c * rows + r] = x[at];",
        "y[c * rows + r] = x[(int)x[0] + r * cols + (c ^ 1)];",
    ],
)
def test_what_is_not_certain_is_left_alone(body: str) -> None:
    assert tile_variants(kernel(body), ARCH, frozenset()) == ()
