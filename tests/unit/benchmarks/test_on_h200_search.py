"""What is sent to the H200: the folders of the search, and the kernel that serves a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.on_h200_search import folder_of
from benchmarks.own_kernels import FOLDER, names
from benchmarks.own_rivals import TYPES
from tasks.loader import load_task

TARGET = "h200"


def test_a_shipped_task_begins_with_the_files_that_are_given(tmp_path: Path) -> None:
    file = Path("examples/row_softmax_h200.hip")
    task = load_task(str(folder_of(f"row_softmax={file}", tmp_path)), TARGET)
    assert [path.name for path in task.seeds] == ["seed.hip", "seed_given0.hip", "seed_tunable.hip"]
    assert task.seeds[1].read_bytes() == file.read_bytes()


@pytest.mark.parametrize("name", names())
def test_every_own_kernel_is_for_the_h200_and_has_types_that_pytorch_knows(name: str) -> None:
    task = load_task(str(FOLDER / name), TARGET)
    assert {spec.dtype for spec in (*task.inputs, *task.outputs)} <= TYPES.keys()
