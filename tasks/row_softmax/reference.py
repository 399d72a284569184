"""Softmax of each row of a float32 matrix."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values with standard deviation 3: rows that are neither flat nor one-hot."""
    x = rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)
    x *= np.float32(3)
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Float64 from the float32 inputs."""
    y = inputs["x"].astype(np.float64)
    y -= y.max(axis=1, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis=1, keepdims=True)
    return {"y": y}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """The three-pass loop in float32, for each row in the order of its columns or against it, whichever is less exact.

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
    """Rows far outside the range of exp, to both sides, and rows without any contrast."""
    x = inputs["x"]
    shift = np.where(np.arange(x.shape[0]) % 2 == 0, 1e4, -1e4).astype(np.float32)[:, None]
    equal = np.broadcast_to(x[:, :1], x.shape)
    return {"shifted": {"x": x + shift}, "equal_rows": {"x": np.ascontiguousarray(equal)}}
