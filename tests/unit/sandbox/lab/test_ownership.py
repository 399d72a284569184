"""Honest maps of common forms give a workgroup's number from its place; maps that wrap or double do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sandbox.lab.ownership import Ownership
from sandbox.lab.workgroups import Grid, place_of

SHAPE = (4096, 1536)


def sampled(grid: Grid, first: Callable[[int], tuple[int, int]], box: tuple[int, int], count: int) -> Ownership:
    """So many workgroups from anywhere, each of which writes a box, cut at the output's end."""
    ownership, total = Ownership(grid, SHAPE), int(np.prod(grid))
    for number in np.random.default_rng(3).choice(total, count, replace=False):
        (row, column), number = first(int(number)), int(number)
        rows, columns = np.arange(row, min(row + box[0], SHAPE[0])), np.arange(column, min(column + box[1], SHAPE[1]))
        ownership.add(number, (rows[:, None] * SHAPE[1] + columns).ravel())
    return ownership


@pytest.mark.parametrize("count", [3, 24])
@pytest.mark.parametrize(
    ("grid", "first"),
    [
        ((12, 32, 1), lambda n: (n // 12 * 128, n % 12 * 128)),
        ((32, 12, 1), lambda n: (n % 32 * 128, n // 32 * 128)),
        ((384, 1, 1), lambda n: (n // 12 * 128, n % 12 * 128)),
        ((384, 1, 1), lambda n: (n % 32 * 128, n // 32 * 128)),
        ((16, 40, 1), lambda n: (place_of(n, (16, 40, 1))[1] * 128, n % 16 * 128)),
    ],
)
def test_maps_that_follow_the_axes(grid: Grid, first: Callable[[int], tuple[int, int]], count: int) -> None:
    assert sampled(grid, first, (128, 128), count).is_plain


def test_a_map_in_reverse_is_linear() -> None:
    assert sampled((4096, 1, 1), lambda n: (4095 - n, 0), (1, 1536), 12).is_plain


@pytest.mark.parametrize("period", [1, 7, 128, 300])
def test_a_map_that_wraps_is_in_question(period: int) -> None:
    assert not sampled((384, 1, 1), lambda n: (n % period // 12 * 128, n % period % 12 * 128), (128, 128), 24).is_plain


def test_one_that_writes_where_its_neighbour_does_is_in_question() -> None:
    ownership = sampled((4096, 1, 1), lambda n: (n - (n % 2), 0), (1, 1536), 24)
    assert not ownership.is_plain


def test_workgroups_at_one_place_are_counted() -> None:
    ownership = Ownership((8, 1, 1), SHAPE)
    for number in range(4):
        ownership.add(number, np.arange(10) + 100 * (number // 2))
    ownership.add(4, np.empty(0, np.int64))
    assert ownership.shared == 2 and not ownership.is_plain


def test_a_place_in_columns_is_read_by_columns() -> None:
    ownership = Ownership((1536, 1, 1), SHAPE, column_major=True)
    for number in (3, 700, 1500):
        ownership.add(number, np.arange(4096) + 4096 * number)
    assert ownership.is_plain


@pytest.mark.parametrize(("height", "is_cut_short"), [(96, False), (32, True)])
def test_a_tile_at_the_end_is_held_to_what_is_left_there(height: int, is_cut_short: bool) -> None:
    ownership = Ownership((12, 32, 1), (4064, 1536))  # 96 rows are left for the last tile of 128
    for number, rows in ((0, 128), (12 * 31, height)):
        row = number // 12 * 128
        ownership.add(number, (np.arange(row, row + rows)[:, None] * 1536 + np.arange(128)).ravel())
    assert ownership.is_cut_short == is_cut_short


def test_workgroups_that_own_no_tiles_are_not_held_to_any() -> None:
    ownership = Ownership((64, 1, 1), (64, 100))
    for number in (3, 63):  # each takes every second column of a row
        ownership.add(number, number * 100 + np.arange(0, 100, 2))
    assert not ownership.is_cut_short


@pytest.mark.parametrize("grid", [(384, 1, 1), (12, 32, 1)])
def test_the_workgroups_that_a_wrapped_index_meets_are_named(grid: Grid) -> None:
    """Of 384 tiles a third begins where the first ones do: of each the one that it meets is asked for, or known."""
    ownership = sampled(grid, lambda n: (n % 256 // 12 * 128, n % 256 % 12 * 128), (128, 128), 40)
    met = {number - 256 for number in ownership.numbers if number >= 256}
    assert len(met) > 8 and set(ownership.rivals()) <= met and len(ownership.rivals()) == 8
    assert not set(ownership.rivals()) & set(ownership.numbers)
    honest = sampled(grid, lambda n: (n // 12 * 128, n % 12 * 128), (128, 128), 40)
    assert honest.rivals() == ()


def test_one_that_writes_nothing_is_missed_where_the_others_say_which_tile_is_its_own() -> None:
    """Tiles of 128 in a grid that ends where the output does, or behind it: there workgroups have nothing to do."""
    for grid, idle, is_missed in (((12, 32, 1), 383, True), ((12, 40, 1), 12 * 33, False), ((14, 32, 1), 13, False)):
        ownership = Ownership(grid, SHAPE)
        for position, number in enumerate((0, 5, grid[0] * 7 + 3, grid[0] * 20 + 1)):
            row, column = number // grid[0] * 128, number % grid[0] * 128
            ownership.add(
                number, (np.arange(row, row + 128)[:, None] * SHAPE[1] + np.arange(column, column + 128)).ravel()
            )
            assert not ownership.is_cut_short, position
        ownership.add(idle, np.empty(0, np.int64))
        assert ownership.is_cut_short is is_missed, grid


def test_of_few_that_write_nothing_is_said() -> None:
    ownership = sampled((12, 32, 1), lambda n: (n // 12 * 128, n % 12 * 128), (128, 128), 2)
    ownership.add(next(n for n in range(384) if n not in ownership.numbers), np.empty(0, np.int64))
    assert not ownership.is_cut_short


@pytest.mark.parametrize("column_major", [False, True])
@pytest.mark.parametrize("shape", [(7,), (5, 8), (3, 4, 6), (2, 1, 5, 3)])
def test_a_run_of_places_has_the_box_that_its_indices_say(shape: tuple[int, ...], column_major: bool) -> None:
    rng, size = np.random.default_rng(5), int(np.prod(shape))
    for _ in range(60):
        first, last = sorted(int(x) for x in rng.integers(size, size=2))
        ownership = Ownership((1, 1, 1), shape, column_major)
        ownership.add(0, np.arange(first, last + 1))
        axes = np.unravel_index(np.arange(first, last + 1), shape, order="F" if column_major else "C")
        assert ownership.firsts == [tuple(int(axis[0]) for axis in axes)]
        assert ownership.extents == [tuple(int(np.ptp(axis)) + 1 for axis in axes)]
