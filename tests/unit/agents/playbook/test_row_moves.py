"""Rows for a wave or a block: which loops are taken, in which styles of writing, and which are left alone."""

from __future__ import annotations

import pytest

from agents.playbook.reductions import Reduction
from agents.playbook.row_moves import block_rows, row_variants, wave_rows
from agents.playbook.rows import rows_of
from agents.source import KernelFile, read
from sandbox.candidate.fit import check as check_plan
from sandbox.candidate.parse import parse
from tasks.loader import load_task

ARCH = "gfx942"
PLAN = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, 128)"]
block = [128]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
"""
HEAD = 'extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {'
ROW = "const int row = blockIdx.x * blockDim.x + threadIdx.x; if (row >= rows) return;"


AT = "x[row * cols + j]"  # `@` in the bodies


def kernel(body: str, head: str = HEAD, row: str = ROW, plan: str = PLAN) -> KernelFile:
    return read(f"{plan}{head}\n{row}\n{body.replace('@', AT)}\n}}\n")


def found(body: str) -> list[tuple[Reduction, ...]]:
    return [loop.reductions for rows in rows_of(kernel(body)) for loop in rows.loops]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("float s = 0; for (int j = 0; j < cols; j++) s += @; y[row] = s;", "+"),
        ("float s = 1; for (int j = 0; cols > j; ++j) { s = x[j + row * cols] + s; } y[row] = s;", "+"),
        ("float s = 0; for (unsigned j = 1; j <= cols - 1; j += 1) s = fmaf(x[row*cols+j], 2.0f, s); y[row] = s;", "+"),
        (
            "const float* p = x + (size_t)cols * row; float s = p[0]; "
            "for (int j = 1; j < cols; ++j) s = fmaxf(p[j], s); y[row] = s;",
            "fmaxf",
        ),
        ("float s = 9; for (int j = 0; j < cols; ++j) { float v = @; s = v < s ? v : s; } y[row] = s;", "<"),
        (
            "float s = 0; for (int j = 0; j < cols; ++j) { const int at = row * cols + j; "
            "if (x[at] > s) s = x[at]; } y[row] = s;",
            ">",
        ),
        ("int n = 0; for (int j = 0; j < cols; ++j) if (@ > 0.5f) n++; y[row] = n;", "+"),
    ],
)
def test_a_reduction_however_it_is_written(body: str, rule: str) -> None:
    assert [[r.rule for r in loop] for loop in found(body)] == [[rule]]


def test_the_place_of_the_best_goes_with_it() -> None:
    loop = "for (int j = 0; j < cols; ++j) { float v = @; if (b < v) { w = j; b = v; } }"
    body = f"float b = -1; int w = 0; {loop} y[row] = w;"
    assert found(body) == [(Reduction("b", ">", "w"),)]
    text = wave_rows(kernel(body), "k.64")
    assert "lane_other > b || (lane_other == b && lane_w < w)" in text


@pytest.mark.parametrize(
    "body",
    [
        "float s = 0; for (int j = 0; j < cols; ++j) s = s * 0.5f + @; y[row] = s;",  # order matters
        "float s = 0; for (int j = 0; j < cols; ++j) { s += @; y[row * cols + j] = s; }",  # a prefix sum
        "for (int j = 1; j < cols; ++j) y[row * cols + j] = y[row * cols + j - 1] + @;",
        "for (int j = 0; j < cols; ++j) { y[row * cols + j] = @; y[row * cols + j + 1] = 0; }",
        "for (int j = 0; j < cols; ++j) y[row * cols] = @;",  # the last pass wins
        "for (int j = 0; j < cols; ++j) y[row * cols + (int)@] = j;",  # places that may meet
        "float s = 0; for (int j = 0; j < cols; ++j) { if (@ < 0) break; s += 1; } y[row] = s;",
        "float s = 0; for (int j = 0; j < cols; ++j) { s += @; if (s > 9) s = 0; } y[row] = s;",
        "float b = 0; int w = 0; for (int j = 0; j < cols; ++j) if (@ >= b) { b = @; w = j; } y[row] = w;",
        "float s = 0; for (int j = 0; j < cols; ++j) s += x[j * rows + row]; y[row] = s;",  # lanes read neighbours now
        "float s = 0; for (int j = 0; j < cols; j += 2) s += @; y[row] = s;",
        "float s = 0; for (int j = cols; j > 0; --j) s += @; y[row] = s;",
        "float s = 0; y[row] = 1; for (int j = 0; j < cols; ++j) s += @ * y[row]; y[row] = s;",
        "for (int j = 0; j < cols; ++j) y[row * cols + j] = @; float t = y[row * cols + 1]; y[row] = t;",
        "float s = 0; for (int j = 0; j < cols; ++j) { s += @; ++x; } y[row] = s;",
        "float s = 0; for (int j = 0; j < cols; ++j) { { float s = @; s += 1; } s += @; } y[row] = s;",
        "float lane_step = 0; for (int j = 0; j < cols; ++j) lane_step += @; y[row] = lane_step;",
        "float s = 0; for (int j = 0; j < cols; ++j) s += @; y[row] = s + threadIdx.x;",
        "half s = 0; for (int j = 0; j < cols; ++j) s += @; y[row] = s;",  # no shuffle for the type
    ],
)
def test_what_is_not_certain_is_left_alone(body: str) -> None:
    assert row_variants(kernel(body), ARCH, frozenset()) == ()


def test_a_buffer_given_twice_or_no_guard_is_left_alone() -> None:
    body = "float s = 0; for (int j = 0; j < cols; ++j) s += @; y[row] = s;"
    assert row_variants(kernel(body), ARCH, frozenset()) == ("k.64",)
    assert row_variants(kernel(body), "sm_90", frozenset()) == ("k.32",)
    assert row_variants(kernel(body, plan=PLAN.replace('"x", "y"', '"y", "y"')), ARCH, frozenset()) == ()
    assert row_variants(kernel(body, row=ROW.split("if")[0]), ARCH, frozenset()) == ()
    assert row_variants(kernel(body, plan=PLAN.replace("[128]", "[64]")), ARCH, frozenset()) == ("k.64",)
    assert row_variants(kernel(body, row=ROW.replace("blockDim.x", "64")), ARCH, frozenset()) == ()  # not the plan's
    helper = "__device__ int lane() { return threadIdx.x; }\n"
    assert row_variants(kernel(body, head=helper + HEAD), ARCH, frozenset()) == ()


BODY = """
    float top = x[(long)row * cols];
    for (int j = 1; j < cols; ++j) top = fmaxf(top, x[(long)row * cols + j]);
    float sum = 0.0f;
    for (int j = 0; j < cols; ++j) {
        y[(long)row * cols + j] = expf(x[(long)row * cols + j] - top);  // kept
        sum += y[(long)row * cols + j];
    }
    for (int j = 0; j < cols; ++j) y[(long)row * cols + j] /= sum;
"""


@pytest.mark.parametrize("change", [wave_rows, block_rows])
def test_plan_bounds_and_code_change_together(change: type[object]) -> None:
    head = HEAD.replace("void k", "__launch_bounds__(128) void k")
    text = change(kernel(BODY, head=head), "k.64")
    assert isinstance(text, str)
    parsed = parse(text)
    check_plan(parsed, load_task("row_softmax"))
    launch = read(text).plan["launch"][0]
    if change is block_rows:
        assert (launch["grid"], launch["block"]) == (["rows"], ["THREADS"])
        assert "__launch_bounds__(THREADS)" in text
        assert "row = blockIdx.x;" in text
    else:
        assert (launch["grid"], launch["block"]) == (["ceil_div(rows, ROWS)"], [64, "ROWS"])
        assert "__launch_bounds__(64 * ROWS)" in text
        assert "row = blockIdx.x * ROWS + threadIdx.y;" in text
    assert text.count("__restrict__") == 2
    assert row_variants(read(text), ARCH, frozenset()) == ()


def test_a_store_beside_the_loops_keeps_its_branch() -> None:
    body = "float s = 0; for (int j = 0; j < cols; ++j) s += x[row * cols + j]; if (s > 0) y[row] = s; else y[row] = 0;"
    text = wave_rows(kernel(body), "k.64")
    assert "if (s > 0) { if (threadIdx.x == 0) { y[row] = s; } } else { if (threadIdx.x == 0) { y[row] = 0; } }" in text
