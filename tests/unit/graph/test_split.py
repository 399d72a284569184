"""The best table by shape: exact, with thresholds on what tells the cases apart, and with no row that does not pay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pytest

from graph.split import MOST_ROWS, ShapeRange, best_rows
from sandbox.candidate.dispatch import Variant, holds
from tasks.manifest import case_name
from tasks.task import Case


def cases(*dims: Mapping[str, int], weights: Sequence[float] = ()) -> list[Case]:
    return [Case(case_name(d), d, 1, w) for d, w in zip(dims, weights or [1.0] * len(dims), strict=True)]


def times(made: Sequence[Case], *values: float) -> dict[str, float]:
    return {case.name: value for case, value in zip(made, values, strict=True)}


def chosen(rows: Sequence[ShapeRange], case: Case) -> int:
    """The option that the conditions choose, as the judge reads them."""
    return next(row.option for row in rows if holds(Variant("a", row.when), case.dims))


COLS = cases(*({"rows": 100, "cols": n} for n in (64, 256, 1024, 4096)))


def test_a_threshold_lies_between_the_cases() -> None:
    rows = best_rows(COLS, [times(COLS, 1, 1, 9, 9), times(COLS, 9, 9, 1, 1)], 1.0)
    assert rows == (ShapeRange("cols <= 512", 0), ShapeRange("", 1))


def test_one_option_may_serve_both_ends() -> None:
    rows = best_rows(COLS, [times(COLS, 1, 9, 9, 1), times(COLS, 9, 1, 1, 9)], 1.0)
    assert rows == (ShapeRange("cols <= 128", 0), ShapeRange("cols <= 2048", 1), ShapeRange("", 0))


def test_a_row_that_gains_less_than_the_least_is_left_out() -> None:
    options = [times(COLS, 100, 100, 100, 100), times(COLS, 97, 103, 103, 103)]
    assert best_rows(COLS, options, 0.5) == (ShapeRange("cols <= 128", 1), ShapeRange("", 0))
    assert best_rows(COLS, options, 1.0) is None
    assert best_rows(COLS, [times(COLS, 1, 1, 1, 1)], 0.1) is None


def test_what_no_dim_tells_apart_a_product_may() -> None:
    made = cases({"m": 8, "n": 100}, {"m": 100, "n": 8}, {"m": 64, "n": 70}, {"m": 70, "n": 64})
    rows = best_rows(made, [times(made, 1, 1, 9, 9), times(made, 9, 9, 1, 1)], 1.0)
    assert rows == (ShapeRange("m * n <= 1893", 0), ShapeRange("", 1))


def test_cases_of_equal_dims_share_a_kernel() -> None:
    made = cases({"n": 64}, {"n": 64})
    made[1] = Case("again", {"n": 64}, 2)
    assert best_rows(made, [times(made, 1, 9), times(made, 9, 1)], 1.0) is None


def test_weights_count() -> None:
    made = cases({"n": 1}, {"n": 2}, {"n": 3}, weights=[1, 1, 50])
    options = [times(made, 1, 1, 1), times(made, 0.9, 2, 2)]
    assert best_rows(made, options, 0.1) == (ShapeRange("n <= 1", 1), ShapeRange("", 0))
    assert best_rows(made, options, 1.0) is None


@pytest.mark.parametrize("seed", range(6))
def test_no_other_table_of_thresholds_is_better(seed: int) -> None:
    """Every cut and every choice, against the dynamic programme; the conditions choose as it has counted."""
    rng = np.random.default_rng(seed)
    made = cases(*({"rows": int(r), "cols": int(c)} for r, c in rng.permutation(64)[:10].reshape(5, 2) + 1))
    options = [times(made, *(float(v) for v in rng.uniform(1, 2, 5))) for _ in range(4)]
    price = 5 * math.log1p(0.02)

    def cost(rows: Sequence[int]) -> float:
        return sum(math.log(options[o][case.name]) for o, case in zip(rows, made, strict=True))

    best = min(cost([o] * 5) for o in range(4)) - price
    for names in (("rows",), ("cols",), ("rows", "cols")):
        order = sorted(made, key=lambda case: math.prod(case.dims[name] for name in names))
        values = [math.prod(case.dims[name] for name in names) for case in order]
        for picks in product(range(4), repeat=5):
            cuts = [i for i in range(4) if picks[i] != picks[i + 1]]
            if not 1 <= len(cuts) < MOST_ROWS or any(values[i] == values[i + 1] for i in cuts):
                continue
            by_name = {case.name: pick for case, pick in zip(order, picks, strict=True)}
            best = min(best, cost([by_name[case.name] for case in made]) + price * (len(cuts) - 1))
    rows = best_rows(made, options, 2.0)
    found = min(cost([o] * 5) for o in range(4)) - price
    if rows is not None:
        found = cost([chosen(rows, case) for case in made]) + price * (len(rows) - 2)
    assert found == pytest.approx(best)


def test_an_option_that_takes_two_rows_is_a_table_by_itself_and_pays_for_both() -> None:
    """It serves a part of the shapes, and another kernel has the rest."""
    whole, part = times(COLS, 9, 9, 9, 9), times(COLS, 9, 3, 3, 3)
    assert best_rows(COLS, [whole, part], 1.0, [1, 2]) == (ShapeRange("", 1),)
    assert best_rows(COLS, [whole, times(COLS, 9, 9, 9, 8.7)], 1.0, [1, 2]) is None
    assert best_rows(COLS, [whole, part, times(COLS, 1, 9, 9, 9)], 1.0, [1, 2, 1]) == (
        ShapeRange("cols <= 128", 2),
        ShapeRange("", 1),
    )
    assert best_rows(COLS, [times(COLS, 3, 3, 3, 3), part], 1.0, [1, 2]) is None
