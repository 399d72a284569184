"""Gradients of a perceptron with one hidden layer of sigmoids."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tasks.task import Array, Case, Tensors

Product = Callable[[Array, Array], Array]


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw weights by the width of their layer, so that no sigmoid is flat; rows of different scale."""
    batch, inputs, hidden, outputs = (case.dims[name] for name in ("batch", "inputs", "hidden", "outputs"))
    x = rng.standard_normal((batch, inputs), dtype=np.float32)
    x[np.arange(batch), rng.integers(inputs, size=batch)] *= np.float32(2)
    dy = rng.standard_normal((batch, outputs), dtype=np.float32)
    return {
        "x": x,
        "w1": rng.standard_normal((hidden, inputs), dtype=np.float32) / np.float32(np.sqrt(inputs)),
        "w2": rng.standard_normal((outputs, hidden), dtype=np.float32) / np.float32(np.sqrt(hidden)),
        "dy": dy * rng.uniform(0.25, 2, (batch, 1)).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return _gradients({name: array.astype(np.float64) for name, array in inputs.items()})


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, term by term; each element the least exact of three, by sigmoids a last place off or not.

    A GPU's reciprocal is off by as much, and where a sigmoid is close to one, that is all there is of its derivative.
    """
    h, exact = _hidden(inputs, _in_order), reference(inputs, case)
    ways = (h, np.nextafter(h, np.float32(0)), np.minimum(np.nextafter(h, np.float32(2)), np.float32(1)))
    below = _in_order(inputs["dy"], inputs["w2"])
    made = [_summed(inputs, each, below, _in_order) for each in ways]
    return {name: _least_exact([each[name] for each in made], exact[name]) for name in exact}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make small weights, where all sigmoids are close to a half, or to zero, and gradients of very different scale."""
    scale = (10.0 ** rng.uniform(-2, 2, (1, inputs["dy"].shape[1]))).astype(np.float32)
    x, w1 = inputs["x"].copy(), inputs["w1"] * np.float32(0.05)
    x[:, 0], w1[:, 0] = 1, -rng.uniform(9, 14, len(w1))
    return {
        "flat": {**inputs, "w1": inputs["w1"] * np.float32(0.01)},
        "closed": {**inputs, "x": x, "w1": w1},
        "scaled": {**inputs, "dy": inputs["dy"] * scale},
    }


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Leave out terms of the derivative."""
    right = _gradients(inputs)
    h, dh = _hidden(inputs), inputs["dy"] @ inputs["w2"]
    return {
        "no derivative of the sigmoid": {**right, "dw1": dh.T @ inputs["x"]},
        "h for h (1 - h)": {**right, "dw1": (dh * h).T @ inputs["x"]},
        "the derivative of tanh": {**right, "dw1": (dh * (1 - h * h)).T @ inputs["x"]},
    }


def _hidden(given: Tensors, product: Product = np.matmul) -> Array:
    return np.asarray(1 / (1 + np.exp(-product(given["x"], given["w1"].T))))


def _gradients(given: Tensors) -> dict[str, Array]:
    return _summed(given, _hidden(given), given["dy"] @ given["w2"], np.matmul)


def _summed(given: Tensors, h: Array, below: Array, product: Product) -> dict[str, Array]:
    return {"dw1": product((below * h * (1 - h)).T, given["x"]), "dw2": product(given["dy"].T, h)}


def _in_order(a: Array, b: Array) -> Array:
    """Multiply two matrices as a plain loop adds it: a library's blocks keep a large first term of few others."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[k]
    return total


def _least_exact(ways: list[Array], exact: Array) -> Array:
    stacked = np.stack(ways)
    worst = np.abs(stacked - exact).argmax(axis=0)
    return np.asarray(np.take_along_axis(stacked, worst[None], axis=0)[0])
