from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.errors import PlanError
from tasks.expressions import evaluate, evaluate_column, names_in


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("rows * cols + 1", 13),
        ("ceil_div(rows, 2)", 2),
        ("rows // 2", 1),
        ("-rows", -3),
        ("cols % 3", 1),
        ("min(rows, cols, 2)", 2),
        ("max(rows, cols)", 4),
        ("rows < cols", 1),
        ("rows == cols", 0),
        ("(rows) - 1", 2),
    ],
)
def test_evaluates_the_white_list(text: str, value: int) -> None:
    assert evaluate(text, {"rows": 3, "cols": 4}) == value


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("rows ** 2", "not allowed"),
        ("rows / 2", "not allowed"),
        ("rows.real", "not allowed"),
        ("1.5", "not allowed"),
        ("True", "not allowed"),
        ("open('x')", "not allowed"),
        ("1 < 2 < 3", "not allowed"),
        ("min()", "not allowed"),
        ("min(rows)", "arguments"),
        ("ceil_div(rows)", "arguments"),
        ("ceil_div(1, 0)", "divides by zero"),
        ("depth", "'depth' is not known"),
        ("rows +", "cannot be read"),
        ("", "cannot be read"),
        ("a\0b", "cannot be read"),
        ("9999999999 * 9999999999", "63 bits"),
        ("+".join(["1"] * 5000), "longer than"),
    ],
)
def test_refuses_the_rest_with_one_sentence(text: str, part: str) -> None:
    with pytest.raises(PlanError) as caught:
        evaluate(text, {"rows": 3})
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_deepest_expression_of_the_longest_length_is_evaluated() -> None:
    assert evaluate("(" * 80 + "1" + "+1)" * 80, {}) == 81


def test_names_in_leaves_functions_out_and_survives_nonsense() -> None:
    assert names_in("ceil_div(rows, 64) + max(cols, 1)") == {"rows", "cols"}
    assert names_in("rows +") == frozenset()
    assert names_in("a\0b") == frozenset()


@given(st.integers(0, 10**6), st.integers(1, 10**4))
def test_ceil_div_is_the_least_cover(total: int, part: int) -> None:
    blocks = evaluate("ceil_div(total, part)", {"total": total, "part": part})
    assert blocks * part >= total > (blocks - 1) * part


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
