"""Attention over pages."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values, permuted pages, random lengths."""
    d = case.dims
    pages = 20 * d["s"]
    return {
        "q": rng.standard_normal((d["s"], 8 * d["g"], 128)).astype(np.float16),
        "k": rng.standard_normal((pages, d["g"], 16, 16, 8)).astype(np.float16),
        "v": rng.standard_normal((pages, d["g"], 128, 16)).astype(np.float16),
        "table": rng.permutation(pages).reshape(d["s"], 20).astype(np.int32),
        "length": rng.integers(1, 321, d["s"]).astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    wide = np.float64 if inputs["q"].dtype == np.float64 else np.float32
    q, k, v = (inputs[name].astype(wide) for name in "qkv")
    y = np.zeros(q.shape, wide)
    for s, length in enumerate(inputs["length"]):
        pages = inputs["table"][s]
        keys = k[pages].transpose(1, 0, 3, 2, 4).reshape(k.shape[1], 320, 128)[:, :length]
        values = v[pages].transpose(1, 0, 3, 2).reshape(k.shape[1], 320, 128)[:, :length]
        queries = q[s].reshape(-1, 8, 128)
        scores = queries @ keys.transpose(0, 2, 1) / 12
        p = np.exp(scores - scores.max(axis=-1, keepdims=True))
        y[s] = (p / p.sum(axis=-1, keepdims=True) @ values).reshape(-1, 128)
    return {"y": y.astype(inputs["q"].dtype)}
