from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.compare import compare
from tasks.error_measures import _MANY, QUANTILE, WORST, Measures, _ranked, floor_of, measures_of, over
from tasks.tolerance import Tolerance


def test_the_measures_of_errors_and_the_larger_of_two() -> None:
    found = measures_of(np.array([3.0, 4.0, 0.0, 0.0]))
    assert found == Measures(4.0, 2.5, 4.0) and found.alike == Measures(4.0, 4.0, 4.0)
    assert found.at_least(Measures(1.0, 3.0, 1.0)) == Measures(4.0, 3.0, 4.0)
    assert measures_of(np.zeros(0)) == Measures(0.0, 0.0, 0.0)


def test_of_one_element_the_baseline_may_be_right_by_luck() -> None:
    rng, tolerance = np.random.default_rng(3), Tolerance(4.0)
    want = rng.standard_normal((1, 1)) * 4
    others = rng.standard_normal((1, 60)) * 4
    theirs = (others + rng.standard_normal((1, 60)) * 1e-5).astype(np.float32)
    lucky, honest, wrong = (np.asarray(want + off, np.float32) for off in (0.0, 2e-5, 1e-3))
    assert not compare(honest, want, lucky, tolerance).correct
    assert compare(honest, want, lucky, tolerance, beside=(others, theirs)).correct
    assert not compare(wrong, want, lucky, tolerance, beside=(others, theirs)).correct
    exact = np.arange(60.0)[None]
    assert not compare(np.int32([[4]]), np.array([[3.0]]), np.int32([[3]]), tolerance, beside=(exact, exact)).correct


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1.0, 1e200])
def test_measures_grow_with_the_errors_whatever_their_size(scale: float) -> None:
    found = measures_of(scale * np.array([3.0, 4.0, 0.0, 0.0]))
    assert found.largest == 4 * scale and found.quantile == 4 * scale
    assert found.rms == pytest.approx(2.5 * scale, rel=1e-12)


def test_no_errors_and_no_elements_measure_nothing() -> None:
    assert measures_of(np.zeros(9)) == Measures(0.0, 0.0, 0.0) == measures_of(np.zeros(0))


@pytest.mark.parametrize("count", [5, 1000, 1001, _MANY, _MANY + 1, 100_000])
@pytest.mark.parametrize("zeros", [0.0, 0.9, 0.9995])
def test_the_quantile_is_the_value_with_its_rank(count: int, zeros: float) -> None:
    rng = np.random.default_rng(count)
    values = rng.permutation(np.where(rng.random(count) < zeros, 0.0, rng.random(count)))
    values[0] = 2.0
    rank = min(count - 1, int(np.ceil(QUANTILE * count)))
    assert measures_of(values).quantile == np.sort(values)[rank]
    for other in (0, count // 2, count - 1):
        assert _ranked(values, other) == np.sort(values)[other]


@pytest.mark.parametrize(
    ("mine", "own", "floor", "expected"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (1e-9, 0.0, 0.0, WORST),
        (8.0, 2.0, 0.0, 4.0),
        (4.0, 2.0, 0.0, 2.0),
        (16.0, 2.0, 0.0, 8.0),
        (9.0, 2.0, 1.0, 4.0),
        (3.0, 0.0, 6.0, 2.0),
        (1e300, 1e-9, 0.0, WORST),
    ],
)
def test_an_error_over_the_baselines_is_the_ratio_exactly_at_the_limit(
    mine: float, own: float, floor: float, expected: float
) -> None:
    assert over(mine, own, floor, 4.0) == pytest.approx(expected)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0.5, 16))
def test_an_error_is_over_the_ratio_where_it_is_above_what_is_allowed(
    mine: float, own: float, floor: float, ratio: float
) -> None:
    assert (over(mine, own, floor, ratio) <= ratio) or mine > ratio * own + floor


def test_the_floor_is_a_few_units_of_the_type_and_none_of_integers() -> None:
    magnitude = Measures(1.0, 0.5, 0.25)
    assert floor_of(magnitude, np.dtype(np.int32), Tolerance(4.0)) == Measures(0.0, 0.0, 0.0)
    tolerance = Tolerance(4.0, least=0.125)
    single, half = (floor_of(magnitude, np.dtype(kind), tolerance) for kind in (np.float32, np.float16))
    assert single.largest == pytest.approx(0.125 + tolerance.units * 2.0**-23)
    assert single.rms == pytest.approx(0.125 + tolerance.units * 2.0**-24)
    assert half.largest == pytest.approx(0.125 + 0.5 * 2.0**-10)
