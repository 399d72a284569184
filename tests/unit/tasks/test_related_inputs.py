"""Relations between values, and what is put back."""

from __future__ import annotations

import numpy as np

from tasks.related_inputs import (
    against,
    alike,
    bit_neighbours,
    one_magnitude,
    ones_or_zeros,
    relaxed,
    shuffled_tiles,
    symmetric,
)
from tasks.task import Array, TensorSpec


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_at_most_places_what_was_made_stays_and_at_one_at_least_what_was_drawn_is_back() -> None:
    x = drawn(40, 50)
    shares = [(relaxed(np.zeros_like(x), x, np.random.default_rng(seed)) == x).mean() for seed in range(40)]
    assert 1 / x.size <= min(shares) < 0.01 and 0.05 < max(shares) < 0.35


def test_each_relation_holds() -> None:
    x, rng = drawn(33, 33), np.random.default_rng(1)
    assert (np.abs(one_magnitude(x, rng)) == np.abs(x[:, :1])).all() and (one_magnitude(x, rng) * x >= 0).all()
    assert {float(ones_or_zeros(x, np.random.default_rng(seed)).mean()) for seed in range(9)} == {0.0, 1.0}
    near = bit_neighbours(x, rng).view(np.uint32).astype(np.int64)
    assert set(np.unique(near - near.min(axis=1, keepdims=True))) == {0, 1, 2, 3}
    assert (symmetric(x, rng) == symmetric(x, rng).T).all() and symmetric(drawn(3, 4), rng).shape == (3, 4)
    tiles = shuffled_tiles(drawn(4, 64), np.random.default_rng(2))
    size = next(s for s in (2, 4, 8, 16, 32, 64) if len({tuple(sorted(t)) for t in tiles.reshape(-1, s)}) == 1)
    assert size == 64 or len({tuple(t) for t in tiles.reshape(-1, size)}) > 1


def test_two_inputs_of_one_type_and_size_become_alike_and_others_are_left() -> None:
    inputs = {"a": drawn(4, 6), "b": drawn(6, 4, seed=1), "c": drawn(5)}
    (name, values), *others = alike(inputs, ["a", "b", "c"], np.random.default_rng(0)).items()
    assert not others and values.shape == inputs[name].shape
    assert set(values.ravel()) == set(inputs["b" if name == "a" else "a"].ravel())
    assert alike(inputs, ["a", "c"], np.random.default_rng(0)) == {}


def test_places_of_a_shared_dim_are_scaled_against_each_other() -> None:
    specs = [TensorSpec("a", "f32", ("m", "k")), TensorSpec("x", "f32", ("k",)), TensorSpec("y", "f32", ("n",))]
    inputs = {"a": drawn(7, 30), "x": drawn(30), "y": drawn(3)}
    made = against(inputs, specs, 1e-6, np.random.default_rng(0))
    assert set(made) == {"a", "x"}
    np.testing.assert_allclose(made["a"] * made["x"], inputs["a"] * inputs["x"], rtol=1e-5)
    assert 0.2 < (made["x"] == inputs["x"]).mean() < 0.8
    assert against(inputs, specs[1:], 1e-6, np.random.default_rng(0)) == {}
