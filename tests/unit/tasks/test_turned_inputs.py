"""Inputs on which a recorded comparison goes the other way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tasks.compared_sides import DIRECT, NONE, RAW, SIZED, Compared, found_by_value, side_of
from tasks.turned_inputs import Turner


def bits(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(values, np.float32).view(np.uint32).astype(np.uint64)


def compared(how: str, left: Sequence[float], right: Sequence[float], places: Sequence[Sequence[int]] = ()) -> Compared:
    """Each place is an element of the buffer `x`, or -1."""
    a, b = np.array(left, np.float32), np.array(right, np.float32)
    truth = {"eq": a == b, "ne": a != b, "lt": a < b, "gt": a > b}[how[-2:]]
    at = np.array(places or [[-1]] * a.size, np.int64)
    buffers, sizes = np.where(at < 0, -1, 0), np.full(at.shape, 4)
    return Compared(how, "float", truth, bits(left), bits(right), ("x", "y"), buffers, 4 * np.maximum(at, 0), sizes)


def turner(x: np.ndarray[tuple[int, ...], np.dtype[np.float32]], seed: int = 0) -> Turner:
    return Turner({"x": x}, ["x"], moves=False, rng=np.random.default_rng(seed))


X = np.array([[1.5, -2.5, 3.5, 4.5], [5.5, 6.5, -7.5, 8.5]], np.float32)


def turned(one: Compared, to: bool, seed: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    made = turner(X, seed).turned(one, to=to)
    assert made is not None and made["x"].shape == X.shape
    return made["x"]


def test_a_side_is_a_value_that_was_loaded_or_the_only_one_of_its_kind() -> None:
    one = compared("oeq", [-2.5, 6.5, 7.5, 99.0], [1.5, 1.5, 1.5, 1.5], [[1], [1], [-1], [3]])
    made = {"x": X.reshape(-1)}
    side = side_of(one, 0, made, found_by_value(made))
    assert side.how.tolist() == [DIRECT, DIRECT, SIZED, NONE]  # its place, its value, its size, a computed one
    assert side.at.tolist()[:3] == [1, 5, 6]
    twice = {"x": np.array([1.5, 1.5, 2.0], np.float32)}
    one = compared("oeq", [1.5, 2.0], [0.0, 0.0])
    assert side_of(one, 0, twice, found_by_value(twice)).how.tolist() == [NONE, DIRECT]  # which of two is not known


@pytest.mark.parametrize("seed", range(4))
def test_unequal_values_become_equal_and_all_others_stay(seed: int) -> None:
    made = turned(compared("oeq", [1.5, -2.5], [5.5, 6.5], [[0], [1]]), to=True, seed=seed)
    changed = np.flatnonzero(made.reshape(-1) != X.reshape(-1))
    assert changed.size and {4, 5}.issuperset(changed.tolist())
    assert made[0, 0] == made[1, 0] or made[0, 1] == made[1, 1]


def test_a_value_becomes_the_number_that_it_is_compared_with() -> None:
    made = turned(compared("une", [3.5] * 2, [0.0] * 2, [[2], [2]]), to=False)
    assert made[0, 2] == 0 and (made != X).sum() == 1


@pytest.mark.parametrize("seed", range(12))
def test_the_smaller_value_becomes_the_larger_one_or_comes_near(seed: int) -> None:
    one = replace(compared("ogt", [8.5], [100.0], [[7]]), fixed=(False, True))
    made = turned(one, to=True, seed=seed)
    assert made[1, 3] > 89.9 and (made != X).sum() == 1


def test_equal_values_differ() -> None:
    assert (turned(compared("oeq", [4.5], [4.5], [[3]]), to=False, seed=1) != X).sum() == 1


def test_a_computed_side_is_moved_by_what_it_was_computed_of_or_by_whole_inputs() -> None:
    one = compared("olt", [X[0, 0] * X[0, 3]], [0.25], [[0, 3]])
    assert any((turned(one, to=True, seed=seed) != X).sum() == 2 for seed in range(8))
    whole = compared("ogt", [123.0], [400.0])
    assert all((turned(whole, to=True, seed=seed) != X).sum() >= 4 for seed in range(8))
    assert turner(X).turned(whole, to=False) is None  # all are so


def test_bytes_are_written_as_they_are_compared() -> None:
    w = np.arange(16, dtype=np.uint8)
    words = w.view(np.uint32).astype(np.uint64)
    places, sizes = np.array([[0], [0]]), np.array([[16], [16]])  # both of one load of sixteen bytes
    wanted = np.full(2, 0x88888888, np.uint64)
    none = np.zeros(2, bool)
    one = Compared("eq", "i32", none, words[[1, 3]], wanted, ("w",), np.zeros((2, 1), np.int64), places, sizes)
    made = {"w": w}
    assert side_of(one, 0, made, found_by_value(made)).how.tolist() == [RAW, RAW]
    for seed in range(4):
        found = Turner({"w": w}, ["w"], moves=False, rng=np.random.default_rng(seed)).turned(one, to=True)
        assert found is not None
        assert {0x88888888}.issubset(found["w"].view(np.uint32).tolist()) and (found["w"][:4] == w[:4]).all()


def test_no_value_leaves_what_numbers_are_computed_with() -> None:
    one = replace(compared("ogt", [8.5], [3e38], [[7]]), fixed=(False, True))
    assert turner(X).turned(one, to=True) is None  # sums of such values overflow in one order and not in another
    moved = Turner({"x": X}, ["x"], moves=True, rng=np.random.default_rng(1)).turned(one, to=True)
    assert moved is None or np.isfinite(moved["x"]).all()
