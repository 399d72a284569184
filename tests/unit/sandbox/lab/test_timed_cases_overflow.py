"""Indices that overflow in 32 bits on a benchmark case of more than 2^31 elements are found, at their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.loader import load_task
from tasks.task import Task
from tests.support.lab_bench import evaluator

MANIFEST = """
name = "bytes"
title = "Bytes plus one"
description = "y = x + 1 modulo 256."
targets = ["mi300x"]
mix = true

[[input]]
name = "x"
dtype = "u8"
shape = ["rows", "cols"]

[[output]]
name = "y"
dtype = "u8"
shape = ["rows", "cols"]

[[test]]
rows = 3
cols = 257
[[test]]
rows = 130
cols = 1000

[[benchmark]]
rows = 65600
cols = 32768

[work]
flops = "rows * cols"
bytes = "2 * rows * cols"

[tolerance]
ratio = 2.0
"""
REFERENCE = """
import numpy as np


def make_inputs(case, rng):
    return {"x": rng.integers(0, 256, (case.dims["rows"], case.dims["cols"]), dtype=np.uint8)}


def reference(inputs, case):
    return {"y": (inputs["x"] + np.uint8(1)).astype(np.float64)}


def baseline(inputs, case):
    return {"y": inputs["x"] + np.uint8(1)}
"""
ROWS = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(cols, 256)", "rows"]
block = [256]
args = ["x", "y", "rows", "cols"]
+++*/
extern "C" __global__ void k(const unsigned char* x, unsigned char* y, int rows, int cols) {
    const int col = blockIdx.x * 256 + threadIdx.x, row = blockIdx.y;
    if (col >= cols) return;
    const INDEX;
    y[i] = x[i] + 1;
}
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder: Path = tmp_path_factory.mktemp("bytes")
    (folder / "task.toml").write_text(MANIFEST, encoding="utf-8")
    (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
    return load_task(folder)


@pytest.mark.long
@pytest.mark.parametrize(
    ("index", "kinds"),
    [
        ("long i = (long)row * cols + col", []),
        ("int i = row * cols + col", ["out_of_bounds"]),
        ("unsigned i = ((unsigned)row * cols + col) * 4 / 4", ["unwritten_output"]),  # bytes of 4-byte elements
    ],
)
def test_an_overflow_is_found_at_the_line_of_the_access(task: Task, index: str, kinds: list[str]) -> None:
    source, lab = ROWS.replace("INDEX", index), evaluator(3)
    verdict = lab.verify(lab.prepare(source, task)).verdict
    line = 1 + source.split("\n").index(next(row for row in source.split("\n") if "y[i] = " in row))
    assert [(finding.kind, finding.line) for finding in verdict.findings] == [(kind, line) for kind in kinds]
