"""Gradients of a perceptron with one hidden layer of sigmoids."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Weights by the width of their layer, so that no sigmoid is flat; rows of different scale."""
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
    """Float64."""
    return _gradients({name: array.astype(np.float64) for name, array in inputs.items()})


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float32."""
    return _gradients(inputs)


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Small weights, where all sigmoids are close to a half, or to zero, and gradients of very different scale."""
    scale = (10.0 ** rng.uniform(-2, 2, (1, inputs["dy"].shape[1]))).astype(np.float32)
    x, w1 = inputs["x"].copy(), inputs["w1"] * np.float32(0.05)
    x[:, 0], w1[:, 0] = 1, -rng.uniform(9, 14, len(w1))
    return {
        "flat": {**inputs, "w1": inputs["w1"] * np.float32(0.01)},
        "closed": {**inputs, "x": x, "w1": w1},
        "scaled": {**inputs, "dy": inputs["dy"] * scale},
    }


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Terms of the derivative left out."""
    right = _gradients(inputs)
    h, dh = _hidden(inputs), inputs["dy"] @ inputs["w2"]
    return {
        "no derivative of the sigmoid": {**right, "dw1": dh.T @ inputs["x"]},
        "h for h (1 - h)": {**right, "dw1": (dh * h).T @ inputs["x"]},
        "the derivative of tanh": {**right, "dw1": (dh * (1 - h * h)).T @ inputs["x"]},
    }


def _hidden(given: Tensors) -> Array:
    return np.asarray(1 / (1 + np.exp(-(given["x"] @ given["w1"].T))))


def _gradients(given: Tensors) -> dict[str, Array]:
    h = _hidden(given)
    below = given["dy"] @ given["w2"] * h * (1 - h)
    return {"dw1": below.T @ given["x"], "dw2": given["dy"].T @ h}
