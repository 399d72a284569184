"""Keogh's lower bounds."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values in [0, 1), deviations from 0.5."""
    n, m = case.dims["n"], case.dims["m"]
    return {
        "x": rng.random(n + m - 1, dtype=np.float32),
        "mean": rng.random(n, dtype=np.float32),
        "deviation": rng.random(n, dtype=np.float32) + np.float32(0.5),
        "low": rng.random(m, dtype=np.float32) - 1,
        "high": rng.random(m, dtype=np.float32),
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
    windows = np.lib.stride_tricks.sliding_window_view(inputs["x"], len(inputs["low"]))
    v = (windows - inputs["mean"][:, None]) / inputs["deviation"][:, None]
    over, under = np.maximum(v - inputs["high"], 0), np.minimum(v - inputs["low"], 0)
    return {"y": (over * over + under * under).sum(axis=1)}
