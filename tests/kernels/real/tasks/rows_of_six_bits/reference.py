"""Rows of a table in 6 bits."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Random bytes behind scales; random rows."""
    d = case.dims
    x = rng.integers(0, 256, (d["m"], 2, 210)).astype(np.uint8)
    x[..., 208:] = rng.uniform(0.01, 1, (d["m"], 2, 1)).astype(np.float16).view(np.uint8)
    return {"x": x, "ids": rng.integers(0, d["m"], d["n"]).astype(np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = np.ascontiguousarray(inputs["x"][inputs["ids"]])
    n = len(x)
    low = x[..., :128].reshape(n, 2, 2, 64).astype(np.int32)
    high = x[..., 128:192].reshape(n, 2, 2, 1, 32).astype(np.int32) >> np.array([0, 2, 4, 6])[:, None] & 3
    low = np.concatenate((low & 15, low >> 4), axis=-1).reshape(n, 2, 2, 4, 32)
    q = (low | high << 4) - 32
    scales = np.ascontiguousarray(x[..., 192:208]).view(np.int8).reshape(n, 2, 2, 4, 2, 1).astype(np.float32)
    d = np.ascontiguousarray(x[..., 208:]).view(np.float16).astype(np.float32).reshape(n, 2, 1, 1, 1, 1)
    return {"y": (d * scales * q.reshape(n, 2, 2, 4, 2, 16)).reshape(n, 512)}
