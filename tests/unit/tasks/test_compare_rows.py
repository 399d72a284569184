"""Rows with a peak: what a sum loses that meets it and takes it away again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tasks.compare import compare
from tasks.tolerance import Tolerance


def exclusive(x: np.ndarray, each: int = 4) -> np.ndarray:
    """Running sums of each row, as a thread adds `each` neighbours and takes its own sum from what a wave has."""
    sums = np.cumsum(x.reshape(len(x), -1, each), axis=-1, dtype=np.float32)
    upto = np.cumsum(sums[..., -1], axis=-1, dtype=np.float32)
    before = upto - sums[..., -1]
    return np.asarray((before[..., None] + sums).reshape(x.shape))


def test_a_sum_that_takes_a_peak_away_again_may_lose_a_last_place_of_it() -> None:
    """A peak at a row's end: few elements before it are off by its last place, and the standard by much less."""
    rng, allowed = np.random.default_rng(3), Tolerance(4.0, row_units=4.0)
    for _ in range(50):
        x = rng.standard_normal((2, 2048), dtype=np.float32)
        x[0, -1] = 80_000
        want, base = np.cumsum(x, axis=1, dtype=np.float64), np.cumsum(x, axis=1, dtype=np.float32)
        made = exclusive(x)
        assert compare(made, want, base, allowed).correct
        wrong = made.copy()
        wrong[0, -4:-1] += 0.05  # of the row with the peak six last places
        assert not compare(wrong, want, base, allowed).correct
        wrong = made.copy()
        wrong[1, -4:] += 0.02  # of another row, where nothing is large
        assert not compare(wrong, want, base, allowed).correct
    assert not compare(made, want, base, replace(allowed, row_units=0.0)).correct


def test_the_element_wise_gate_holds_beside_a_peak() -> None:
    want = np.array([[80_000.0, *np.linspace(1e-3, 2e-3, 63)]])
    base, allowed = want.astype(np.float32), Tolerance(4.0, rtol=1e-3, row_units=4.0)
    assert compare(base, want, base, allowed).correct
    wrong = base.copy()
    wrong[0, 5] *= 1.01
    assert not compare(wrong, want, base, allowed).correct


def test_rows_with_infinities_and_without_a_finite_value_lose_nothing() -> None:
    want = np.array([[np.inf, 1.0], [np.inf, -np.inf], [2.0, 3.0]])
    base, allowed = want.astype(np.float32), Tolerance(4.0, row_units=4.0)
    assert compare(base, want, base, allowed).correct
    wrong = base.copy()
    wrong[0, 1] = 1.001
    assert not compare(wrong, want, base, allowed).correct


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32])
def test_integers_lose_nothing_beside_a_peak(dtype: type) -> None:
    want = np.array([[1 << 30, 5, 6]], np.float64)
    right, allowed = want.astype(dtype), Tolerance(4.0, row_units=4.0)
    assert compare(right, want, right, allowed).correct
    assert not compare(right + np.asarray([[0, 1, 0]], dtype), want, right, allowed).correct


def test_float64_is_not_summed_in_float32() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 512))
    x[:, -1] = 80_000
    want = np.cumsum(x.astype(np.longdouble), axis=1).astype(np.float64)
    base, allowed = np.cumsum(x, axis=1), Tolerance(4.0, row_units=4.0)
    assert compare(base, want, base, allowed).correct
    assert not compare(np.cumsum(x, axis=1, dtype=np.float32).astype(np.float64), want, base, allowed).correct
