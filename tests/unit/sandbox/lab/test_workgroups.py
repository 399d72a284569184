from __future__ import annotations

from collections import Counter

import numpy as np

from sandbox.lab.workgroups import drawn, is_edge


def test_every_place_is_as_likely_as_any_other_and_each_axis_has_its_end() -> None:
    rng, grid, met = np.random.default_rng(1), (7, 5, 1), Counter[int]()
    for _ in range(4000):
        numbers = drawn(grid, 2, 1, rng, frozenset({3}))
        assert len(set(numbers)) == len(numbers) and 3 not in numbers
        assert any(n % 7 == 6 for n in numbers) and any(n // 7 == 4 for n in numbers)
        met.update(numbers[:2])
    assert set(met) == set(range(35)) - {3} and max(met.values()) < 1.4 * min(met.values())


def test_each_row_and_column_has_its_share() -> None:
    numbers = drawn((32, 16, 4), 16, 0, np.random.default_rng(2), frozenset())
    assert sorted(n // 32 % 16 for n in numbers) == list(range(16))
    assert sorted(n % 32 // 2 for n in numbers) == list(range(16))
    assert Counter(n // 512 for n in numbers) == dict.fromkeys(range(4), 4)


def test_a_small_grid_is_taken_whole() -> None:
    assert drawn((2, 2, 1), 3, 1, np.random.default_rng(0), frozenset({1})) == (0, 2, 3)


def test_edges_are_the_last_along_an_axis_with_several() -> None:
    assert [n for n in range(6) if is_edge(n, (3, 2, 1))] == [2, 3, 4, 5]
    assert not is_edge(0, (1, 1, 1))
