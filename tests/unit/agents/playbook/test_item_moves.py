"""Several items for each work-item: hoisted declarations, guards, and what is left alone."""

from __future__ import annotations

import pytest

from agents.playbook.item_moves import item_variants, several_items
from agents.source import KernelFile, read

ARCH = "gfx942"
PLAN = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows * cols, 256)"]
block = [256]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
"""
HEAD = 'extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {'


def kernel(body: str, plan: str = PLAN, head: str = HEAD) -> KernelFile:
    return read(f"{plan}{head}\n{body}\n}}\n")


@pytest.mark.parametrize(
    "body",
    [
        "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < rows * cols) y[i] = 2 * x[i];",
        "const size_t at = (size_t)blockIdx.x * 256 + threadIdx.x; if (at >= rows * cols) return; y[at] = x[at];",
        "const int t = threadIdx.x; const int b = blockIdx.x; int n = rows * cols; int g = t + 256 * b; "
        "if (!0 && n > g) { float v = x[g]; if (v < 0) v = 0; y[g] = v; }",
    ],
)
def test_an_item_however_it_is_written(body: str) -> None:
    file = kernel(body)
    assert item_variants(file, ARCH, frozenset()) == ("k",)
    changed = read(several_items(file, "k"))
    assert changed.plan["launch"][0]["grid"] == ["ceil_div(rows * cols, 256 * ITEMS)"]
    assert changed.tunables["ITEMS"][0] == 4
    assert changed.code.count("_item < ITEMS") == 2  # the whole ones and those with a guard
    assert item_variants(changed, ARCH, frozenset()) == ()


def test_whole_items_have_no_guard_and_declarations_keep_their_order() -> None:
    body = """
    const int tid = threadIdx.x;
    const int total = rows * cols;
    const int i = blockIdx.x * 256 + tid;
    if (i >= total) return;
    const int col = i % cols;
    y[i] = x[i] + x[col];  // a remark"""
    text = several_items(kernel(body), "k")
    order = [
        "tid =",
        "total =",
        "i_first =",
        "i_first + ITEMS <= (long)(total)",
        "i = i_first",
        "col = i",
        "y[i] = x[i]",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert text.count("if (i < total)") == 1
    assert text.count("i % cols") == 2


@pytest.mark.parametrize(
    "body",
    [
        "int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i];",  # no guard: where it ends is unknown
        "int i = blockIdx.x * 128 + threadIdx.x; if (i < rows) y[i] = x[i];",  # not the plan's block
        "int i = blockIdx.x * 256 + threadIdx.x; if (i < rows) y[i] = x[i] + threadIdx.x;",
        "int i = blockIdx.x * 256 + threadIdx.x; if (i < rows) { if (x[i] < 0) return; y[i] = x[i]; }",
        "int i = blockIdx.x * 256 + threadIdx.x; if (i < rows) { rows += 1; y[i] = rows; }",
        "int i = blockIdx.x * 256 + threadIdx.x; if (i < (int)x[i]) y[i] = x[i];",  # a bound of each item's own
        "int i = blockIdx.x * 256 + threadIdx.x; if (i < rows) { y[i] = x[i]; __syncthreads(); }",
        "int i = blockIdx.x * 256 + threadIdx.x; if (i < rows) y[i] = __shfl_xor(x[i], 1);",
        "int i = blockIdx.x * 256 + threadIdx.x; while (i < rows) { y[i] = x[i]; i += 256; }",
        "int i = blockIdx.x * 256 + threadIdx.x; i = i + 1; if (i < rows) y[i] = x[i];",
        "int i = blockIdx.x * 256 + threadIdx.x; int i_first = 3; if (i < rows) y[i] = x[i] * i_first;",
    ],
)
def test_what_is_not_certain_is_left_alone(body: str) -> None:
    assert item_variants(kernel(body), ARCH, frozenset()) == ()


def test_names_that_the_task_has_are_not_taken() -> None:
    body = "int i = blockIdx.x * 256 + threadIdx.x; if (i < rows) y[i] = x[i];"
    assert item_variants(kernel(body), ARCH, frozenset({"ITEMS"})) == ()
    assert "ITEMS_B" in read(several_items(kernel(f"{body} // ITEMS"), "k")).tunables


def test_the_other_axis_keeps_its_guard() -> None:
    plan = PLAN.replace('["ceil_div(rows * cols, 256)"]', '["ceil_div(rows, 4)", "ceil_div(cols, 8)"]')
    body = """int c = blockIdx.y * 8 + threadIdx.y, r = blockIdx.x * 4 + threadIdx.x;
    if (r < rows && c < cols) y[r * cols + c] = x[r * cols + c];"""
    text = several_items(kernel(body, plan.replace("[256]", "[4, 8]")), "k")
    assert "(long)c_first + ITEMS <= (long)(cols)" in text
    assert text.count("r < rows") == 2
    assert text.count("c < cols") == 1
