"""Softmax of each row of a float32 matrix."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

FARTHEST = 6.3  # as a power of ten: beyond, so few values of a row are left apart that no sum of them rounds
DEEP = 75.0  # below the maximum, where an exponential is not denormal yet


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values with standard deviation 3, one raised in every row and column; a third of the rows with peaks.

    The peaks are at random places, so that no fixed element is the maximum, and so high that an exponential of their
    distance from any other element overflows. Another third of the rows lies far from zero, to either side.
    """
    rows, cols = case.dims["rows"], case.dims["cols"]
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    x *= np.float32(3)
    x[rng.integers(rows, size=cols), np.arange(cols)] += rng.uniform(3, 9, cols).astype(np.float32)
    x[np.arange(rows), rng.integers(cols, size=rows)] += rng.uniform(6, 12, rows).astype(np.float32)
    mixed = rng.permutation(rows)
    peaked, far = mixed[::3, None], mixed[1::3]
    heights = rng.uniform(110, 300, peaked.shape) + rng.uniform(0, 2, (peaked.size, 4))
    x[peaked, rng.integers(cols, size=heights.shape)] = heights.astype(np.float32)
    x[far] += (rng.choice([-1, 1], far.size) * rng.uniform(120, 1000, far.size)).astype(np.float32)[:, None]
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64 from the float32 inputs."""
    y = inputs["x"].astype(np.float64)
    y -= y.max(axis=1, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis=1, keepdims=True)
    return {"y": y}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the three-pass loop in float32, each row in its columns' order or against it, whichever is less exact.

    One order alone can be lucky, and an honest kernel that takes the other would be found wanting.
    """
    x = inputs["x"]
    y = np.exp(x - x.max(axis=1, keepdims=True))
    # accumulate, not sum: numpy's sum is pairwise, far more exact than the plain loop that sets the scale here.
    sums = [np.add.accumulate(part, axis=1, dtype=np.float32)[:, -1:] for part in (y, y[:, ::-1])]
    exact = y.sum(axis=1, keepdims=True, dtype=np.float64)
    forward, backward = (np.abs(total - exact) for total in sums)
    return {"y": y / np.where(forward >= backward, sums[0], sums[1])}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make rows far from zero to both sides, no contrast, a peak in each row, one row shuffled, even distances."""
    x = inputs["x"]
    rows, cols = x.shape
    sign = np.where((np.arange(rows) + rng.integers(2)) % 2 == 0, 1, -1)
    shift = (sign * 10 ** rng.uniform(4, FARTHEST, rows)).astype(np.float32)[:, None]
    equal = np.broadcast_to(x[:, :1], x.shape)
    peaks = rng.standard_normal((rows, cols), dtype=np.float32)
    peaks[np.arange(rows), rng.integers(cols, size=rows)] += rng.uniform(95, 105, rows).astype(np.float32)
    near = np.where(np.arange(rows) % 2 == 0, 0.0, -4 - np.log(cols))[:, None]  # or no other value adds to the sum
    below = rng.uniform(-DEEP, near, x.shape)
    below[np.arange(rows), rng.integers(cols, size=rows)] = 0
    spread = (below + x[:, :1]).astype(np.float32)
    shuffled = rng.permuted(np.broadcast_to(4 * rng.standard_normal(cols, dtype=np.float32), x.shape), axis=1)
    return {
        "shifted": {"x": x + shift},
        "equal_rows": {"x": np.ascontiguousarray(equal)},
        "peaks": {"x": peaks},
        "shuffled": {"x": shuffled},
        "spread": {"x": spread},
    }


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take wrong maxima and wrong sums, in float32."""
    x = inputs["x"]
    zero, half = np.zeros((x.shape[0], 1), np.float32), -(-x.shape[1] // 2)
    top = x.max(axis=1, keepdims=True)
    maxima = {
        "the first element for the maximum": x[:, :1],
        "the last element for the maximum": x[:, -1:],
        "the maximum of the first half": x[:, :half].max(axis=1, keepdims=True),
        "the mean for the maximum": x.mean(axis=1, keepdims=True, dtype=np.float32),
        "the largest magnitude for the maximum": np.abs(x).max(axis=1, keepdims=True),
        "no maximum": zero,
        "a maximum that starts at zero": np.maximum(top, zero),
        "the maximum of all rows": np.full_like(zero, x.max()),
    }
    with np.errstate(over="ignore"):
        found: dict[str, Tensors] = {name: {"y": _divided(np.exp(x - m))} for name, m in maxima.items()}
    e = np.exp(x - top)
    whole = max(64, x.shape[1] // 64 * 64)
    found["half the sum, twice"] = {"y": _divided(e, 2 * e[:, :half].sum(axis=1, keepdims=True))}
    found["the sum of whole tiles of 64"] = {"y": _divided(e, e[:, :whole].sum(axis=1, keepdims=True))}
    found["the sum of the first 1024"] = {"y": _divided(e, e[:, :1024].sum(axis=1, keepdims=True))}
    found["the sum of the row before"] = {"y": _divided(e, np.roll(e.sum(axis=1, keepdims=True), 1, axis=0))}
    return found


def _divided(e: Array, total: Array | None = None) -> Array:
    """Divide the exponentials by their sum, as they come: infinite and undefined values too."""
    with np.errstate(all="ignore"):
        return np.asarray(e / (e.sum(axis=1, keepdims=True) if total is None else total), np.float32)
