"""RMS normalisation of each row of a bfloat16 matrix."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

EPS = np.float32(1e-6)  # as in [scalars]: kernels get the same float32


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal rows of different scale, the smallest comparable with sqrt(eps), and weights of both signs.

    Every row and every column has an outlier at a random place, and so has every sixteenth weight: no part of a row
    has the mean square of the whole.
    """
    rows, cols = case.dims["rows"], case.dims["cols"]
    scale = (10.0 ** rng.uniform(-3, 1, (rows, 1))).astype(np.float32)
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    x[rng.integers(rows, size=cols), np.arange(cols)] *= rng.uniform(2, 4, cols).astype(np.float32)
    x[np.arange(rows), rng.integers(cols, size=rows)] *= rng.uniform(4, 16, rows).astype(np.float32)
    w = 1 + 0.5 * rng.standard_normal(cols, dtype=np.float32)
    w[rng.integers(cols, size=-(-cols // 16))] *= np.float32(8)
    return {"x": (x * scale).astype(ml_dtypes.bfloat16), "w": w.astype(ml_dtypes.bfloat16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64 from the bfloat16 inputs."""
    x, w = inputs["x"].astype(np.float64), inputs["w"].astype(np.float64)
    mean = np.einsum("ij,ij->i", x, x)[:, None] / x.shape[1]
    return {"y": x / np.sqrt(mean + np.float64(EPS)) * w}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, rounded once to bfloat16."""
    x, w = inputs["x"].astype(np.float32), inputs["w"].astype(np.float32)
    mean = np.mean(x * x, axis=1, keepdims=True, dtype=np.float32)
    y = x * (np.float32(1) / np.sqrt(mean + EPS)) * w
    return {"y": y.astype(ml_dtypes.bfloat16)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make rows where eps dominates, huge squares, no contrast, and most of the squares in one half."""
    x, w = inputs["x"], inputs["w"]
    rows, cols = x.shape
    plain = rng.standard_normal(x.shape, dtype=np.float32)
    equal = np.broadcast_to(x[:, :1], x.shape)
    halves = np.where(np.arange(cols) < cols // 2, 1, 8) * np.ones((rows, 1))
    halves[rng.permutation(rows)[::2]] = halves[0, ::-1]
    return {
        "tiny": {"x": (plain * np.float32(5e-4)).astype(x.dtype), "w": w},
        "large": {"x": (plain * np.float32(1e12)).astype(x.dtype), "w": w},
        "equal_rows": {"x": np.ascontiguousarray(equal), "w": w},
        "halves": {"x": (plain * halves).astype(x.dtype), "w": w},
    }


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take parts of the mean square for the whole, leave out terms and weights; rounded to bfloat16 at the end."""
    x, w = inputs["x"].astype(np.float32), inputs["w"].astype(np.float32)
    cols = x.shape[1]
    half, whole = -(-cols // 2), max(64, cols // 64 * 64)
    squares = x * x
    mean = squares.mean(axis=1, keepdims=True, dtype=np.float32)
    found = {
        "half the sum, twice": _scaled(x, squares[:, :half].mean(axis=1, keepdims=True) + EPS, w),
        "the sum of the first 256": _scaled(x, squares[:, :256].mean(axis=1, keepdims=True) + EPS, w),
        "the sum of whole tiles of 64": _scaled(x, squares[:, :whole].sum(axis=1, keepdims=True) / cols + EPS, w),
        "every second element": _scaled(x, squares[:, ::2].mean(axis=1, keepdims=True) + EPS, w),
        "the first element's square": _scaled(x, squares[:, :1] + EPS, w),
        "the row before": _scaled(x, np.roll(mean, 1, axis=0) + EPS, w),
        "no eps": _scaled(x, mean, w),
        "eps outside the root": _scaled(x, (np.sqrt(mean) + EPS) ** 2, w),
        "no weights": _scaled(x, mean + EPS, np.ones_like(w)),
        "the magnitude of the weights": _scaled(x, mean + EPS, np.abs(w)),
        "the variance": _scaled(x, x.var(axis=1, keepdims=True) + EPS, w),
    }
    return {name: {"y": y} for name, y in found.items()}


def _scaled(x: Array, mean: Array, w: Array) -> Array:
    """Divide the rows by the root of a mean square, and multiply them by weights."""
    with np.errstate(all="ignore"):
        return np.asarray((x / np.sqrt(mean) * w).astype(ml_dtypes.bfloat16))
