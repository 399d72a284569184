"""Expressions by columns, compared with the same expressions row by row."""

from __future__ import annotations

import numpy as np
import pytest

from records.errors import PlanError
from tasks.columns import evaluate_column
from tasks.expressions import evaluate


@pytest.mark.parametrize(
    "text",
    [
        "a + b * 3 - a // b % 7",
        "ceil_div(a, 64) << 2 >> 1",
        "min(a, b, 100) + max(a - b, 0)",
        "-a if a < b else a * 2",
        "(a >= 10 and b != 3) or not a == 7",
        "log2(a) * 5",
        "17",
    ],
)
def test_a_column_holds_what_each_row_evaluates_to(text: str) -> None:
    rows = [(a, b) for a in (1, 2, 7, 63, 64, 65, 4096, 10_007) for b in (1, 3, 10, 64, 12_345)]
    columns = {name: np.array(values) for name, values in zip("ab", zip(*rows, strict=True), strict=True)}
    column = np.broadcast_to(evaluate_column(text, columns), len(rows))
    assert column.tolist() == [evaluate(text, {"a": a, "b": b}) for a, b in rows]


@pytest.mark.parametrize("text", ["rows", "a ** 2", "open('x')", "a +", "a.real"])
def test_what_has_no_column_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="has no columns"):
        evaluate_column(text, {"a": np.arange(3)})
