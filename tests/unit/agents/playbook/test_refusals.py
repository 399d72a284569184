"""A change that does not apply says why, by kernel and line; one that is offered is not among the refusals."""

from __future__ import annotations

import pytest

from agents.author import Assignment
from agents.playbook import moves
from agents.playbook.changes import Changes
from agents.playbook.refusals import refusals
from agents.source import read
from benchmarks.own_kernels import FOLDER, names
from tasks.loader import load_task

HEAD = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "y", "rows", "cols"]
+++*/
extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {
"""
ROW = "int r = blockIdx.x * 64 + threadIdx.x; if (r >= rows) return;\n"


def said(body: str) -> str:
    source = f"{HEAD}{body}\n}}\n"
    return "\n".join(refusals(source, moves.offers(read(source), "gfx942", frozenset())))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"{ROW} do {{ y[r] += 1; }} while (y[r] < 3);", "k: only its plan and single lines are changed: do"),
        ("y[threadIdx.x + 7] = 1;", "no variable is `blockIdx * blockDim + threadIdx`"),
        (f"{ROW} __shared__ float s[64]; s[threadIdx.x] = 1;", "__shared__"),
        (f"{ROW} y[r] = x[threadIdx.x];", "more than such variables knows"),
        ("int r = blockIdx.x * 64 + threadIdx.x; y[r] = x[r];", "items not for k: no guard bounds"),
        (f"{ROW} float s = 0; for (int j = cols; j > 0; --j) s += x[j]; y[r] = s;", "the loop does not count up"),
        (
            f"{ROW} float s = 0;\nfor (int j = 0; j < cols; ++j) s = s * 0.5f + x[r * cols + j]; y[r] = s;",
            "line 11: a pass of the loop needs what an earlier one computed",
        ),
        (f"{ROW} for (int j = 0; j < cols; ++j) y[r * cols + j] = 0;", "items not for k: its work holds a for"),
    ],
)
def test_the_first_thing_against_a_change_is_said(body: str, why: str) -> None:
    assert why in said(body)


@pytest.mark.parametrize("name", names())
def test_what_is_offered_is_not_refused(name: str) -> None:
    source = (FOLDER / name / "seed.hip").read_text(encoding="utf-8")
    offered = moves.offers(read(source), "gfx942", frozenset())
    refused = {
        tuple(line.split(": ")[0].split(" not for ")) for line in refusals(source, offered) if " not for " in line
    }
    assert not refused & {(h.split(":")[0], h.split(":")[1].split(".")[0]) for h in offered}
    assert all(": " in line for line in refusals(source, offered))


def test_a_text_that_is_no_kernel_file_says_so() -> None:
    work = Assignment(load_task("row_softmax"), "", "mi300x", "gfx942", 0)
    assert Changes(work).refusals("no plan")[0].startswith("no change applies: the file does not start")
