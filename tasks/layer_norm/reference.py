"""Layer normalisation of each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tasks.task import Array, Case, Tensors

EPS = np.float32(1e-5)  # as in [scalars]: kernels get the same float32


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw rows of different mean and scale, the smallest comparable with sqrt(eps); weights, shifts of both signs."""
    rows, cols = case.dims["rows"], case.dims["cols"]
    scale = (10.0 ** rng.uniform(-3, 1, (rows, 1))).astype(np.float32)
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    x[rng.integers(rows, size=cols), np.arange(cols)] *= rng.uniform(2, 4, cols).astype(np.float32)
    x[np.arange(rows), rng.integers(cols, size=rows)] *= rng.uniform(4, 16, rows).astype(np.float32)
    x += 2 * rng.standard_normal((rows, 1), dtype=np.float32)
    return {
        "x": x * scale,
        "w": 1 + rng.standard_normal(cols, dtype=np.float32),
        "b": rng.standard_normal(cols, dtype=np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    x, w, b = (inputs[name].astype(np.float64) for name in ("x", "w", "b"))
    centred = x - x.mean(axis=1, keepdims=True)
    variance = np.mean(centred * centred, axis=1, keepdims=True)
    return {"y": centred / np.sqrt(variance + np.float64(EPS)) * w + b}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, in three usual orders of the sums, of which each row takes the least exact.

    From the first element, from the last, and by two accumulators: one alone can be lucky.
    """
    x, w, b = inputs["x"], inputs["w"], inputs["b"]
    turned = _scaled(x[:, ::-1], _mean(x[:, ::-1]), w[::-1], b[::-1])[:, ::-1]
    forms = np.stack([_scaled(x, _mean(x), w, b), turned, _scaled(x, _in_halves(x), w, b, mean=_in_halves)])
    worst = np.abs(forms - reference(inputs, case)["y"]).max(axis=2, keepdims=True).argmax(axis=0)
    return {"y": np.take_along_axis(forms, worst[None], axis=0)[0]}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make rows where eps dominates, and rows far from zero."""
    x = inputs["x"]
    plain = rng.standard_normal(x.shape, dtype=np.float32)
    given = {"w": inputs["w"], "b": inputs["b"]}
    tiny, far = np.asarray(plain * np.float32(2e-3)), np.asarray(plain + np.float32(50))
    return {"tiny": {"x": tiny, **given}, "far": {"x": far, **given}}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take parts of mean and variance for the whole, leave terms out."""
    x, w, b = inputs["x"], inputs["w"], inputs["b"]
    half, mean = -(-x.shape[1] // 2), _mean(x)
    found = {
        "the mean of the first half": _scaled(x, _mean(x[:, :half]), w, b),
        "no mean": _scaled(x, np.zeros_like(mean), w, b),
        "no eps": _scaled(x, mean, w, b, np.float32(0)),
        "no weights": _scaled(x, mean, np.ones_like(w), b),
        "no shift": _scaled(x, mean, w, np.zeros_like(b)),
    }
    return {name: {"y": y} for name, y in found.items()}


def _mean(x: Array) -> Array:
    return np.asarray(np.add.accumulate(x, axis=1, dtype=np.float32)[:, -1:] / np.float32(x.shape[1]))


def _in_halves(x: Array) -> Array:
    """Compute the mean by two accumulators."""
    if x.shape[1] < 2:
        return _mean(x)
    parts = [np.add.accumulate(x[:, first::2], axis=1, dtype=np.float32)[:, -1:] for first in (0, 1)]
    return np.asarray((parts[0] + parts[1]) / np.float32(x.shape[1]))


def _scaled(
    x: Array, middle: Array, w: Array, b: Array, eps: np.float32 = EPS, mean: Callable[[Array], Array] = _mean
) -> Array:
    centred = x - middle
    with np.errstate(all="ignore"):
        return np.asarray(centred / np.sqrt(mean(centred * centred) + eps) * w + b)
