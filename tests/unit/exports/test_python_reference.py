"""A reference that stands alone computes what the task's does, and what cannot be taken along is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exports.python_reference import standalone
from records.errors import UsageError
from tasks.loader import load_task
from tests.support.exports import run


@pytest.mark.parametrize("name", ["row_softmax", "rms_norm", "transpose", "fp8_block_gemm"])
def test_the_text_alone_computes_the_same(name: str) -> None:
    task = load_task(name, "h200")
    space, case = run(standalone(task, "run")), task.tests[0]
    inputs = task.draw(case)
    for key, value in task.reference(inputs, case).items():
        assert np.array_equal(space["reference"](inputs, case)[key], value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from tasks.compare import compare\n", "imports tasks.compare"),
        ("from tasks.task import Task\n", "imports tasks.task"),
        ("def run(): ...\n", "its own run"),
    ],
)
def test_what_cannot_be_taken_along_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        standalone(replace(load_task("row_softmax", "mi300x"), folder=tmp_path), "run")
