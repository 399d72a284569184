"""Sum of a float32 vector."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw values around one of both signs, an outlier at a random place."""
    n = case.dims["n"]
    x = np.float32(0.5) + rng.standard_normal(n, dtype=np.float32)
    x[rng.integers(n)] *= np.float32(rng.uniform(16, 64))
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": inputs["x"].sum(dtype=np.float64)[None]}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, of several orders the least accurate: one alone may be right to the last bit by luck."""
    x, exact = inputs["x"], inputs["x"].sum(dtype=np.float64)
    sums = [_by_lanes(v, lanes) for v in (x, x[::-1]) for lanes in (64, 256, 1024, 4096)]
    return {"y": max(sums, key=lambda y: abs(float(y[0]) - exact))}


def _by_lanes(x: Array, lanes: int) -> Array:
    """Compute so many sums, each one element after the other, then add those."""
    whole = np.concatenate([x, np.zeros(-x.size % lanes, np.float32)]).reshape(-1, lanes)
    sums = np.add.reduce(whole, axis=0, dtype=np.float32)  # row after row: along this axis nothing is paired
    return np.asarray(np.add.accumulate(sums, dtype=np.float32)[-1:])


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make pairs that cancel but for one, and one element that is the whole sum."""
    x = inputs["x"]
    signs = np.where(np.arange(x.size) % 2 == 0, 1, -1).astype(np.float32)
    cancelling = np.repeat(rng.standard_normal(-(-x.size // 2), dtype=np.float32), 2)[: x.size] * signs
    cancelling[rng.integers(x.size)] += np.float32(1000)
    outlier = np.full_like(x, 1e-3)
    outlier[rng.integers(x.size)] = np.float32(4096)
    return {"cancelling": {"x": cancelling}, "outlier": {"x": outlier}}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Return sums of something else, and sums with fewer digits than float32 has."""
    x = inputs["x"]
    narrow = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    found = {
        "the mean": x.mean(),
        "the sum of squares": (x * x).sum(),
        "the largest": x.max(),
        "terms in bfloat16": narrow.sum(),
        "the sum in bfloat16": x.sum().astype(ml_dtypes.bfloat16),
        "the sum in float16": x.sum().astype(np.float16),
    }
    return {name: {"y": np.array([y], np.float32)} for name, y in found.items()}
