"""Loops over a grid as the work of one item, and macros in a kernel."""

from __future__ import annotations

import pytest

from agents.playbook.item_moves import item_variants, several_items
from agents.source import KernelFile, read

ARCH = "gfx942"
TEXT = """/*+++
[[launch]]
kernel = "k"
grid = [512]
block = [256]
args = ["x", "y", "rows:i64", "cols"]
+++*/
#include <hip/hip_runtime.h>
MACROS
extern "C" __global__ void k(const float* x, float* y, long n, int m) {
    BODY
}
"""


def kernel(body: str, macros: str = "") -> KernelFile:
    return read(TEXT.replace("BODY", body).replace("MACROS", macros))


@pytest.mark.parametrize(
    ("body", "items"),
    [
        (
            "for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; "
            "i += (long)gridDim.x * blockDim.x) y[i] = x[i];",
            "rows",
        ),
        (
            "const int step = blockDim.x * gridDim.x; int first = threadIdx.x + blockIdx.x * 256; "
            "for (int i = first; i < (n + 1) * m; i += step) { float v = x[i]; y[i] = v * v; }",
            "(rows + 1) * cols",
        ),
    ],
)
def test_a_grid_of_any_size_becomes_one_that_fits(body: str, items: str) -> None:
    file = kernel(body)
    assert item_variants(file, ARCH, frozenset()) == ("k",)
    changed = read(several_items(file, "k"))
    assert changed.plan["launch"][0]["grid"] == [f"ceil_div({items}, 256 * ITEMS)"]
    assert "i_first = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;" in changed.code
    assert "+=" not in changed.code


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256) y[i] = x[i];",  # items taken by several blocks
        "for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];",
        "for (int i = blockIdx.x * 256 + threadIdx.x; i < x[0]; i += gridDim.x * 256) y[i] = x[i];",
        "for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) { y[i] = x[i]; i += 1; }",
        "for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) y[i] = x[i] + gridDim.x;",
        "for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) { if (x[i] < 0) break; y[i] = 1; }",
    ],
)
def test_other_loops_are_left_alone(body: str) -> None:
    assert item_variants(kernel(body), ARCH, frozenset()) == ()


@pytest.mark.parametrize(
    ("macro", "is_plain"),
    [
        ("#define F(a) ((a) * 2.0f)", True),
        ("#define HALF 0.5f\n#define F(a) (HALF * fmaxf(a, 0))", True),
        ("#define F(a) ((a) + m)", True),
        ("#define F(a) ((a) + threadIdx_x)", False),
        ("#define F(a) ((a) + v++)", False),
        ("#define F(a) (v = (a))", False),
        ("#define F(a) (a); return", False),
    ],
)
def test_a_macro_may_not_hide_what_the_work_is(macro: str, is_plain: bool) -> None:
    body = "int i = blockIdx.x * 256 + threadIdx.x; if (i < n) { float v = x[i]; y[i] = F(v); }"
    assert bool(item_variants(kernel(body, macro), ARCH, frozenset())) == is_plain
