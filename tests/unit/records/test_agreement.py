from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.agreement import Factor, Pair, agreement, factors, scaled, spearman

TIMES = st.floats(1.0, 1000.0)


def pair(measured_us: float, predicted_us: float, resource: str = "hbm") -> Pair:
    return Pair("k", "n=1", measured_us, predicted_us, resource)


def test_agreement_is_a_median_of_ratios_and_of_errors() -> None:
    found = agreement([pair(10, 8), pair(20, 20), pair(30, 60)])
    assert found is not None
    assert (found.count, found.ratio, found.error) == (3, 1.0, pytest.approx(0.2))
    assert found.spearman == pytest.approx(1.0)
    assert agreement([]) is None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
        ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826816681233),  # the worked example of scipy.stats.spearmanr
        ([1, 1, 1], [1, 2, 3], None),
        ([1, 2], [1, 2], None),
    ],
)
def test_rank_correlation(one: list[float], other: list[float], expected: float | None) -> None:
    assert spearman(one, other) == (None if expected is None else pytest.approx(expected))


def test_each_resource_has_its_own_factor_whatever_an_outlier_says() -> None:
    rows = [pair(13, 10), pair(26, 20), pair(39, 30), pair(500, 10), pair(8, 10, "mfma")]
    assert factors(rows) == (Factor("hbm", pytest.approx(1.3), 4), Factor("mfma", pytest.approx(0.8), 1))
    after = agreement(scaled(rows, {f.resource: f.factor for f in factors(rows)}))
    assert after is not None and after.error == pytest.approx(0.0)
    assert [p.predicted_us for p in scaled(rows[:1], {"valu": 9.0})] == [10], "a resource without a factor stays"


@given(st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=15), st.floats(-1.0, 1.0))
def test_no_other_factor_has_a_smaller_median_error(rows: list[tuple[float, float]], shift: float) -> None:
    pairs = [pair(*row) for row in rows]
    (found,) = factors(pairs)

    def upper_median(factor: float) -> float:
        errors = sorted(abs(math.log(p.ratio / factor)) for p in pairs)
        return errors[len(errors) // 2]

    assert upper_median(found.factor) <= upper_median(found.factor * math.exp(shift)) + 1e-9
