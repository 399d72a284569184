"""Lengths at which the two sides of a comparison are equal, from samples of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from sandbox.lab.solved_shapes import solved_dims

RANGES = {"rows": (1, 100_000, 1), "cols": (8, 60_000, 8)}
Dims = Mapping[str, int]


def shapes(count: int = 20) -> list[dict[str, int]]:
    rng = np.random.default_rng(3)
    return [{"rows": int(rng.integers(1, 9000)), "cols": 8 * int(rng.integers(1, 900))} for _ in range(count)]


@pytest.mark.parametrize(
    ("left", "right", "is_met"),
    [
        (lambda d: d["rows"], 12_345, lambda d: d["rows"] == 12_345),
        (lambda d: -(-d["rows"] // 256), 37, lambda d: -(-d["rows"] // 256) == 37),
        (lambda d: d["cols"], 48_000, lambda d: d["cols"] == 48_000),
        (lambda d: d["rows"] * d["cols"], 80_000, lambda d: abs(d["rows"] * d["cols"] - 80_000) <= d["cols"]),
        (lambda d: d["rows"] - 7200, 60, lambda d: d["rows"] == 7259),
    ],
)
def test_a_length_is_solved_for(left: Callable[[Dims], int], right: int, is_met: Callable[[Dims], bool]) -> None:
    listed = shapes()
    samples = [(dims, left(dims), right) for dims in listed]
    solved = list(solved_dims([samples], RANGES, np.random.default_rng(1)))
    assert any(is_met(dims) for dims in solved)
    assert all(1 <= d["rows"] <= 100_000 and 8 <= d["cols"] <= 60_000 and d["cols"] % 8 == 0 for d in solved)


@pytest.mark.parametrize(
    "left", [lambda d: d["rows"] * 40_503 >> 7 & 255, lambda d: 5, lambda d: 2_000_000 + d["rows"]]
)
def test_what_follows_no_line_or_is_out_of_reach_gives_nothing(left: Callable[[Dims], int]) -> None:
    listed = shapes()
    samples = [(dims, left(dims), 99) for dims in listed]
    assert list(solved_dims([samples], RANGES, np.random.default_rng(1))) == []
