"""Kernels in other styles become what the changes read, and what is not certain stays as it is."""

from __future__ import annotations

import math

import pytest

from agents.playbook import moves
from agents.playbook.plain_text import plain
from agents.source import read
from benchmarks.own_kernels import FOLDER, OTHER, names
from sandbox.amdgcn.compiler import Compilation
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain

HEAD = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "y", "rows", "cols"]
+++*/
extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {
"""
ROW = "int r = blockIdx.x * 64 + threadIdx.x; if (r >= rows) return; "
LARGE = {"wave_rows", "items", "loop_tile", "tile_in_lds", "privatise"}


def made(body: str) -> str:
    """The body, rewritten, on one line."""
    text = plain(f"{HEAD}{body}\n}}\n")
    return " ".join(text.removeprefix(HEAD).rsplit("}", 1)[0].split())


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("int j = 0; while (j < cols) { y[j] = 0; j++; }", "for (int j = 0; j < cols; ++j) { y[j] = 0; }"),
        ("int j = 0; while (j != cols) { y[j] = 0; j = j + 1; }", "for (int j = 0; j != cols; j += 1) { y[j] = 0; }"),
        ("int j = 0; while (j != cols) { y[j] = 0; ++j; }", "for (int j = 0; j < cols; ++j) { y[j] = 0; }"),
        ("int j = 2; while (j < cols) s += x[j++];", "for (int j = 2; j < cols; ++j) s += x[j];"),
        ("int j = 0; for (; j < cols;) { y[j] = 0; j += 2; }", "for (int j = 0; j < cols; j += 2) { y[j] = 0; }"),
        (
            "int j; for (j = 0; j < cols; ++j) y[j] = 0; for (j = 1; j < cols; ++j) y[j] = 1;",
            "for (int j = 0; j < cols; ++j) y[j] = 0; for (int j = 1; j < cols; ++j) y[j] = 1;",
        ),
        ("int a = 1, b = 2;", "int a = 1; int b = 2;"),
        ("float s = *(x + r * cols + 3);", "float s = x[(long)(r * cols) + 3];"),
        ("*y = *x;", "y[0] = x[0];"),
        (
            "const float* p = x + r; for (int j = 0; j < cols; ++j) s += *p++;",
            "const float* p = x + r; for (int j = 0; j < cols; ++j) s += p[j];",
        ),
        (
            "const float* p = x + r; for (int j = 1; j < cols; ++j) { s += p[2]; p += rows; }",
            "const float* p = x + r; for (int j = 1; j < cols; ++j) { s += p[(long)(j - (1)) * (rows) + 2]; }",
        ),
        (
            "const float* e = x + cols; for (const float* p = x; p < e; ++p) s += *p;",
            "const float* e = x + cols; for (long p_at = 0; p_at < cols; ++p_at) s += x[p_at];",
        ),
        ("if (!(r < rows)) return;", "if (!(r < rows)) return;"),
        ("int r = 1; if (!(r < rows)) return;", "int r = 1; if (r >= rows) return;"),
        ("int r = 1; if (r > rows - 1) return;", "int r = 1; if (r >= rows) return;"),
        ("if (rows < 3) if (cols < 3) y[0] = 1;", "if ((rows < 3) && (cols < 3)) y[0] = 1;"),
        ("for (int k = 0; k < cols; k++, p += rows) s += k;", "for (int k = 0; k < cols; k++) { s += k; p += rows; }"),
        ("a = 1, b = 2;", "{ a = 1; b = 2; }"),
    ],
)
def test_it_says_the_same_in_another_way(body: str, same: str) -> None:
    assert made(body) == same
    assert made(same) == same


@pytest.mark.parametrize(
    "body",
    [
        "int j = 0; while (j < cols) { if (x[j] > 0) continue; j++; }",
        "int j = 0; while (j < cols) { y[j] = 0; j++; } y[0] = j;",
        "int j = 0; while (j < cols) { j += 2; y[j] = 0; ++j; }",
        "int j = 0; y[j] = 1; while (j < cols) { y[j] = 0; ++j; }",
        "int j = x[0]; y[0] = 1; while (j < cols) { y[j] = 0; ++j; }",
        "int j = 0; while (j < cols) s += j > 3 ? x[j++] : 1;",
        "int j = 0; while (j < cols) s += x[j] * x[j++];",
        "do { s += 1; } while (s < cols);",
        "const float* p = x; for (int j = 0; j < cols; ++j) { p += 1; s += p[0]; }",
        "const float* p = x; for (int j = 0; j < cols; ++j) { s += p[0]; if (j > 3) ++p; }",
        "const float* p = x; for (int j = 0; j < cols; ++j) { s += p[0]; ++p; } y[0] = p[0];",
        "const float* p = x; for (int j = 0; j < cols; ++j) { s += p[0]; p += n; n += 1; }",
        "const float* p = x; for (int j = 0; j < cols; j += 2) { s += p[0]; ++p; }",
        "const float* p = x; for (int j = 0; j < cols; ++j) { s += p[0]; f(p); ++p; }",
        "const float* e = y + cols; for (const float* p = x; p < e; ++p) s += p[0];",
        "float v = 1; if (v > best - 1) return;",
        "int j; for (j = 0; j < cols; ++j) y[j] = 0; y[0] = j;",
        "switch (rows) { case 1: y[0] = 1; }",
    ],
)
def test_what_is_not_certain_stays_as_it_is(body: str) -> None:
    assert made(body) == " ".join(body.split())


def test_a_pointer_of_an_outer_loop_goes_on_from_pass_to_pass() -> None:
    body = "const float* p = x; for (int i = 0; i < rows; ++i) { for (int j = 0; j < cols; ++j) { s += p[0]; ++p; } }"
    assert made(body) == body


def test_a_macro_for_the_number_of_a_work_item_is_spelled_out() -> None:
    text = HEAD.replace("extern", "#define ME (blockIdx.x * 64 + threadIdx.x)\nextern") + "int r = ME; y[r] = 1;\n}\n"
    assert "int r = ((blockIdx.x * 64 + threadIdx.x));" in plain(text)
    assert "#define" not in plain(text)


def test_a_guard_around_numbers_of_an_item_ends_the_others_first() -> None:
    body = "int r = blockIdx.x; if (r < rows && 0 < cols) { int at = r * cols; y[at] = x[at]; }"
    assert made(body) == "int r = blockIdx.x; if (r >= rows || 0 >= cols) return; int at = r * cols; y[at] = x[at];"
    shadows = "int r = 1; if (r < rows) { int r = 2; y[r] = 1; }"
    assert made(shadows) == shadows


@pytest.mark.parametrize("name", names())
def test_the_second_kernels_are_read(name: str) -> None:
    """Each is offered one of the changes that matter."""
    found = moves.offers(read((OTHER / f"{name}.hip").read_text(encoding="utf-8")), "gfx942", frozenset())
    assert {handle.split(":")[0] for handle in found} & LARGE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["batched_gemv", "layer_norm", "row_sum", "small_gemm", "transpose_add"])
def test_the_rewritten_kernel_computes_the_same(name: str) -> None:
    lab, task = MachineLab(toolchain(), COMPILED, load_target("mi300x")), load_task(str(FOLDER / name))
    source = (OTHER / f"{name}.hip").read_text(encoding="utf-8")
    assert plain(source) != source
    prepared = prepare(plain(source), task)
    program = lab.build(prepared.candidate, prepared.tunables)
    assert not isinstance(program, tuple), program
    for case in sorted(task.tests, key=lambda c: math.prod(c.dims.values()))[:3]:
        row, findings = Judge(lab, Built(prepared, Compilation(True), program)).run(case)
        assert row.correct, (case.name, row)
        assert not findings, (case.name, findings)
