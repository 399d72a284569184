"""An orthogonal array: any two dims meet every pair of remainders once."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sandbox.cases.shapes.paired_remainders import LEVELS, RUNS, paired_remainders


def test_any_two_columns_hold_every_pair_once() -> None:
    rows = paired_remainders(7, np.random.default_rng(3))
    assert rows.shape == (RUNS, 7) and rows.min() == 0 and rows.max() == LEVELS - 1
    for left, other in combinations(range(7), 2):
        assert len(set(zip(rows[:, left].tolist(), rows[:, other].tolist(), strict=True))) == RUNS


@pytest.mark.parametrize("factors", [0, 1, 32, 40])
def test_any_number_of_columns_can_be_asked_for(factors: int) -> None:
    rows = paired_remainders(factors, np.random.default_rng(3))
    assert rows.shape == (RUNS, factors)
    assert all((np.bincount(column, minlength=LEVELS) == LEVELS).all() for column in rows.T)


def test_the_order_is_drawn() -> None:
    first, other = (paired_remainders(2, np.random.default_rng(seed)) for seed in (1, 2))
    assert (first != other).any(axis=1).mean() > 0.9
