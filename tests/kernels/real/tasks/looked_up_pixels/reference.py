"""Pixels through a table, planes apart."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    n, h, w = d["n"], d["h"], 8 * d["w"]
    table = rng.integers(0, 256, (n, 256)) + rng.uniform(0.05, 0.4, (n, 256))
    return {
        "x": rng.integers(0, 256, (n, h, w, 3), dtype=np.uint8),
        "lut": (np.clip(table, 0, 255) / 255).astype(np.float32),
        "roi": np.tile(np.array([0, 0, w, h], np.int32), (n, 1)),
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
    n = case.dims["n"]
    bytes_ = np.floor(inputs["lut"] * 255).astype(np.uint8)
    chosen = bytes_[np.arange(n)[:, None, None, None], inputs["x"]]
    return {"y": chosen.transpose(0, 3, 1, 2)}
