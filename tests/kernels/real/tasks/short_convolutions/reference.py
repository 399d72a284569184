"""Convolutions of four steps."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    d = case.dims
    return {
        "x": rng.standard_normal((d["batch"], 128, d["steps"] + 3), dtype=np.float32),
        "w": rng.standard_normal((128, 4), dtype=np.float32),
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
    windows = np.lib.stride_tricks.sliding_window_view(inputs["x"], 4, axis=2)
    return {"y": np.einsum("bctj,cj->btc", windows, inputs["w"])}
