"""Bias and the tanh form of GELU."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

ROOT = np.sqrt(2 / np.pi)


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw values of both signs over the range in which GELU bends, an outlier in every row."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    x = 2 * rng.standard_normal((rows, cols), dtype=np.float32)
    x[np.arange(rows), rng.integers(cols, size=rows)] *= np.float32(4)
    return {"x": x, "bias": rng.standard_normal(cols, dtype=np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    v = inputs["x"].astype(np.float64) + inputs["bias"].astype(np.float64)
    inner = ROOT * (v + 0.044715 * v * v * v)
    with np.errstate(over="ignore"):
        return {"y": v / (1 + np.exp(-2 * inner))}  # 1 + tanh, without its cancelling far below zero


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    v = inputs["x"] + inputs["bias"]
    return {"y": np.float32(0.5) * v * (np.float32(1) + np.tanh(_inner(v)))}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make values far out on both sides, and values around zero."""
    x, bias = inputs["x"], inputs["bias"]
    return {
        "large": {"x": x * np.float32(50), "bias": bias},
        "small": {"x": x * np.float32(0.01), "bias": bias * np.float32(0.01)},
    }


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Compute other functions of much the same form."""
    v = inputs["x"] + inputs["bias"]
    with np.errstate(all="ignore"):
        found = {
            "ReLU": np.maximum(v, 0),
            "the sigmoid form": v / (1 + np.exp(np.float32(-1.702) * v)),
            "no cubic term": np.float32(0.5) * v * (1 + np.tanh(np.float32(ROOT) * v)),
            "no bias": np.float32(0.5) * inputs["x"] * (1 + np.tanh(_inner(inputs["x"]))),
        }
    return {name: {"y": y.astype(np.float32)} for name, y in found.items()}


def _inner(v: Array) -> Array:
    return np.asarray(np.float32(ROOT) * (v + np.float32(0.044715) * v * v * v))
