"""The clock's statistics against values computed by hand."""

from __future__ import annotations

import math

import pytest

from benchmarks.clock.statistics import agreement, ranks, regret, spearman


def test_equal_values_share_the_mean_of_their_places() -> None:
    assert ranks([30.0, 10.0, 20.0, 20.0, 5.0]) == [5.0, 2.0, 3.5, 3.5, 1.0]
    assert ranks([7.0, 7.0, 7.0]) == [2.0, 2.0, 2.0]


def test_spearman_without_ties_is_one_less_six_squares() -> None:
    # Ranks 1 2 3 4 5 and 2 1 4 3 5: squares of differences 1+1+1+1+0 = 4; 1 - 6 * 4 / (5 * 24) = 0.8.
    assert spearman([1.0, 2.0, 3.0, 4.0, 5.0], [20.0, 10.0, 40.0, 30.0, 99.0]) == pytest.approx(0.8)
    assert spearman([1.0, 2.0, 3.0], [9.0, 8.0, 1.0]) == pytest.approx(-1.0)


def test_spearman_with_ties_is_the_correlation_of_mean_ranks() -> None:
    # Ranks 1.5 1.5 3 4 and 1 2 3 4: covariance (-1)(-1.5) + (-1)(-.5) + .5 * .5 + 1.5 * 1.5 = 4.5; squares 4.5 and 5.
    assert spearman([5.0, 5.0, 6.0, 7.0], [1.0, 2.0, 3.0, 4.0]) == pytest.approx(4.5 / math.sqrt(4.5 * 5.0))


def test_spearman_of_equal_predictions_is_no_number() -> None:
    assert math.isnan(spearman([4.0, 4.0], [1.0, 2.0]))
    assert math.isnan(spearman([4.0], [1.0]))


def test_regret_is_what_the_choice_costs() -> None:
    assert regret([3.0, 1.0, 2.0], [10.0, 15.0, 12.0]) == pytest.approx(1.5)
    assert regret([1.0, 1.0, 2.0], [10.0, 16.0, 12.0]) == pytest.approx(1.3)  # either of the first two


def test_agreement_holds_them_all() -> None:
    measured = agreement([50.0, 90.0, 300.0], [100.0, 100.0, 200.0], [101.0, 99.0, 10.0])
    assert (measured.count, measured.above) == (3, 1)
    assert measured.ratio == pytest.approx(0.9)
    assert measured.error == pytest.approx(0.5)  # of .5, .1 and .5
    assert measured.spearman == pytest.approx(1.5 / math.sqrt(2.0 * 1.5))  # ranks 1 2 3 and 1.5 1.5 3
    assert measured.regret == pytest.approx(1.0)


def test_nothing_agrees_with_nothing() -> None:
    with pytest.raises(ValueError, match="at least one"):
        agreement([], [], [])
