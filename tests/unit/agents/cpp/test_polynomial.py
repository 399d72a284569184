"""Coordinate expressions that mean the same are the same."""

from __future__ import annotations

import pytest

from agents.cpp.expression import parse_expression
from agents.cpp.polynomial import ONE, ZERO, Polynomial, atom, polynomial


def poly(text: str) -> Polynomial:
    return polynomial(parse_expression(text, 0, len(text)), text, {"at": atom("row") * atom("cols")})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("row * cols + j", "j + cols * row"),
        ("(size_t)(row + 1) * cols - cols", "at"),
        ("2 * (j + 3) - 6", "j + j"),
        ("-(-j)", "j"),
        ("x[ j ] + 1u", "1 + x[ j ]"),
    ],
)
def test_equal_indices(one: str, other: str) -> None:
    assert poly(one) == poly(other)


@pytest.mark.parametrize("text", ["row * cols + i", "j * j", "j / 2", "j + 1", "j * cols"])
def test_other_indices(text: str) -> None:
    assert poly(text) != poly("j")


def test_the_factor_of_a_name() -> None:
    assert poly("at + 3 * j + j * cols").along("j") == poly("3 + cols")
    assert poly("at + j").along("j") == ONE
    assert poly("at").along("j") == ZERO
    assert poly("j * j").along("j") is None
