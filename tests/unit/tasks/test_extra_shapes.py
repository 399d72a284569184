from __future__ import annotations

import pytest

from records.errors import UsageError
from tasks.extra_shapes import with_shapes
from tasks.loader import load_task


def test_shapes_become_tests_with_a_key_of_their_own() -> None:
    task = load_task("row_softmax")
    made = with_shapes(task, ["rows=1000,cols=77", "cols=5, rows=9", "rows=1000,cols=77"])
    assert [case.name for case in made.tests[len(task.tests) :]] == ["rows=1000,cols=77", "rows=9,cols=5"]
    assert made.tests[-1].role == "test" and made.benchmarks == task.benchmarks
    assert len({task.digest, made.digest, with_shapes(task, ["rows=9,cols=5"]).digest}) == 3
    assert with_shapes(task, ["cols=5,rows=9", "rows=1000,cols=77"]).digest == made.digest
    assert with_shapes(task, []) is task and with_shapes(task, ["rows=7,cols=1000"]) is task


@pytest.mark.parametrize(
    ("task", "text", "says"),
    [
        ("row_softmax", "rows=1000", "takes rows=N,cols=N"),
        ("row_softmax", "rows=1,cols=2,cols=3", "takes rows=N,cols=N"),
        ("row_softmax", "rows=1,cols=2,deep=3", "takes rows=N,cols=N"),
        ("row_softmax", "rows=0,cols=2", "rows must be a whole number"),
        ("row_softmax", "rows=-4,cols=2", "rows must be a whole number"),
        ("row_softmax", "rows=4,cols=99999999999", "cols must be a whole number"),
        ("row_softmax", "rows=4,cols=1e3", "cols must be a whole number"),
        ("row_softmax", "", "takes rows=N,cols=N"),
        ("fp8_block_gemm", "m=33,n=64,k=128", "m must be a multiple of 32"),
    ],
)
def test_a_shape_that_cannot_be_gets_one_clear_sentence(task: str, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        with_shapes(load_task(task), [text])
