"""Inputs on which a comparison with a number comes to one outcome everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tasks.compared_sides import Compared
from tasks.driven_inputs import FAR, Drive
from tasks.task import Array, Tensors

STEPS = 7


def bits(values: Array) -> Array:
    return np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)


def compared(side: Array, number: float, how: str, loaded: int) -> Compared:
    """A computed side against a number, each time loaded from the first so many inputs."""
    left, right = np.asarray(side, np.float32), np.full(side.shape, number, np.float32)
    truth = left < right if how == "olt" else left > right
    buffers = np.broadcast_to(np.arange(loaded), (left.size, loaded))
    places = np.zeros((left.size, loaded), np.int64)
    return Compared(
        how, "float", truth, bits(left), bits(right), ("x", "w", "z"), buffers, places, places + 4, (False, True)
    )


def driven(of: Callable[[Tensors], Array], number: float, to: bool, how: str, loaded: int, seed: int) -> Array | None:
    """The side's values where the comparison has come to one outcome."""
    rng = np.random.default_rng(seed)
    state: Tensors = {name: rng.standard_normal((8, 16)).astype(np.float32) for name in "xwz"}
    other, driver = state["z"], Drive(float(np.float32(number)), 1, to, rng)
    for _ in range(STEPS):
        one = compared(of(state), number, how, loaded)
        made = driver.step(one, state, ["x", "w", "z"])
        if made is None:
            return of(state) if (one.truth == to).all() else None
        state = made
        assert loaded == 3 or state["z"] is other
    return None


def products(state: Tensors) -> Array:
    return (state["x"].astype(np.float64) @ state["w"].T.astype(np.float64)).ravel()


def squares(state: Tensors) -> Array:
    return np.square(state["x"].astype(np.float64)).mean(axis=1)


def exponents(state: Tensors) -> Array:
    return (state["x"].view(np.uint32) >> 23 & 255).max(axis=1).astype(np.float64)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("of", "number", "to", "how", "loaded"),
    [
        (products, -20.0, True, "olt", 2),  # one input gets the other sign
        (products, 88.0, True, "ogt", 2),
        (products, 3.0, False, "olt", 3),
        (squares, 1e-10, True, "olt", 1),
        (squares, 1e4, True, "ogt", 1),
        (exponents, 80.0, True, "olt", 1),  # bits of an exponent grow by one with each octave
        (exponents, 140.0, True, "ogt", 1),
    ],
)
def test_the_last_value_comes_past_the_number_and_not_far(
    of: Callable[[Tensors], Array], number: float, to: bool, how: str, loaded: int, seed: int
) -> None:
    found = driven(of, number, to, how, loaded, seed)
    assert found is not None
    nearest = np.abs(found).min() if (how == "ogt") == to or number < 0 else np.abs(found).max()
    assert 1 / FAR < nearest / abs(number) < FAR


def test_where_no_sign_leads_there_nothing_is_done() -> None:
    assert driven(squares, -5.0, True, "olt", 1, 0) is None


@pytest.mark.parametrize("number", [5e-324, 1e-300, 3.4e38, 1e300])
def test_numbers_at_the_ends_of_a_type_end_nothing(number: float) -> None:
    rng = np.random.default_rng(0)
    state: Tensors = {"x": rng.standard_normal((8, 16)).astype(np.float32)}
    driver = Drive(number, 1, True, rng)
    for side in (1e-45, 3e38, 5e-324, 1.0, 1.0, -1e-40):
        values = np.full(8, side)
        words = values.view(np.uint64)
        right = np.full(8, number).view(np.uint64)
        rows = np.zeros((8, 1), np.int64)
        one = Compared("olt", "double", values < number, words, right, ("x",), rows, rows, rows + 4, (False, True))
        made = driver.step(one, state, ["x"])
        assert made is None or np.isfinite(made["x"]).all()
