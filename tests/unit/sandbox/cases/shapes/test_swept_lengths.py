"""Lengths in a secret order without repeats, of which the first leave no remainder, gap or end to chance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sandbox.cases.shapes.swept_lengths import DIVISORS, MOST_MARKED, swept_lengths

LISTED = [1, 31, 64, 257, 1000, 1024, 4099, 16385]


def drawn(
    seed: int, step: int = 1, listed: list[int] = LISTED, limit: float = 1e9, marked: tuple[int, ...] = ()
) -> list[int]:
    rng = np.random.default_rng(seed)
    return swept_lengths(listed, step, lambda length: 13.0 * length, limit, marked, rng)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_lengths_have_every_remainder_both_ends_and_every_gap(seed: int) -> None:
    lengths = drawn(seed)[:240]
    assert len(set(lengths)) == len(lengths)
    assert {1, 2, 16384, 16385} <= set(lengths)
    for divisor in DIVISORS:
        assert {length % divisor for length in lengths} == set(range(divisor)), divisor
    for low, high in pairwise(LISTED):
        assert high - low == 1 or any(low < length < high for length in lengths), (low, high)


def test_another_seed_gives_another_order_and_the_same_one_the_same() -> None:
    assert drawn(1) == drawn(1)
    assert drawn(1)[4:40] != drawn(2)[4:40]


def test_every_short_length_comes_soon() -> None:
    lengths = drawn(3)[:3000]
    assert len(set(range(1, 513)) - set(lengths)) < 26  # of these no length is likelier than another


def test_the_range_is_what_is_affordable_in_the_dims_own_steps() -> None:
    lengths = drawn(1, step=32, listed=[64, 7168], limit=13.0 * 1000)
    assert set(lengths) == set(range(64, 1001, 32))
    assert drawn(1, listed=[5, 5]) == drawn(1, listed=[100, 200], limit=13.0) == []


def test_numbers_of_a_file_come_first_with_their_neighbours_but_not_without_end() -> None:
    lengths = drawn(1, marked=(7777, 20_000, 16386))[:12]
    assert {7776, 7777, 7778, 16385} <= set(lengths) and max(lengths) <= 16385
    many = drawn(1, marked=tuple(range(2, 16_000)))
    assert many[: 4 + MOST_MARKED] != drawn(1)[: 4 + MOST_MARKED]
    assert len(set(many)) == len(many)


def test_a_range_of_millions_is_drawn_from_all_of_its_octaves() -> None:
    lengths = swept_lengths([1, 1 << 24], 1, lambda length: 1e-3 * length, 1e9, (), np.random.default_rng(1))
    assert len(lengths) == len(set(lengths)) > 4000
    assert all(any(1 << n <= length < 2 << n for length in lengths) for n in range(24))
