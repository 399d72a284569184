"""The error that every element may have: along rows, in large columns, in short rows, and beside what is not finite."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.slack import SHORT, SHORT_SHARE, Slack
from tasks.tolerance import Tolerance

ROW = Tolerance(4.0, row_rtol=0.5, atol=0.25, least=0.125)


def slack(want: np.ndarray, tolerance: Tolerance = ROW) -> np.ndarray:
    return Slack.of(want, tolerance).part(...)


def test_without_a_share_of_the_row_it_is_the_same_everywhere() -> None:
    for want in (np.full((2, 5), 9.0), np.array(9.0)):
        assert (slack(want, Tolerance(4.0, atol=0.25, least=0.125)) == 0.375).all()
    assert slack(np.array(9.0)) == 0.375, "a single number has no row"


def test_a_row_allows_a_share_of_its_root_mean_square() -> None:
    assert slack(np.array([3.0, 4.0, 0.0, 0.0])) == pytest.approx(np.full(4, 0.375 + 0.5 * 2.5))
    rows = np.array([[2.0] * 5, [0.5] * 5])
    assert slack(rows) == pytest.approx(0.375 + 0.5 * rows)


def test_an_element_in_a_large_column_may_be_off_by_more_and_in_a_small_one_by_no_less() -> None:
    want = np.array([[8.0, 1.0, 1.0, 1.0]] * 3)
    whole = np.mean(want**2)
    row = 0.5 * np.sqrt(whole)
    expected = 0.375 + row * np.array([8 / np.sqrt(whole), 1, 1, 1])
    assert slack(want) == pytest.approx(np.tile(expected, (3, 1)))


def test_a_short_row_has_a_part_of_the_usual_rows_slack_at_least() -> None:
    for length, is_short in ((SHORT - 1, True), (SHORT, False)):
        want = np.array([[1.0] * length] * 3 + [[0.0] * length])
        usual = 0.5
        assert slack(want)[-1, 0] == pytest.approx(0.375 + (usual * SHORT_SHARE if is_short else 0.0))


def test_zeros_and_what_is_not_finite_give_no_slack_of_their_own() -> None:
    assert (slack(np.zeros((3, 5))) == 0.375).all() and (slack(np.zeros((3, 2))) == 0.375).all()
    want = np.array([np.inf, 4.0, np.nan, 3.0])
    assert slack(want) == pytest.approx(np.full(4, 0.375 + 0.5 * 2.5))


def test_a_part_is_that_of_the_whole() -> None:
    want = np.random.default_rng(1).standard_normal((6, 7))
    whole = Slack.of(want, ROW)
    assert np.array_equal(whole.part((slice(2, 4),)), whole.part(...)[2:4])
