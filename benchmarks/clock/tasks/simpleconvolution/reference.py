"""Convolution of an image of whole numbers with a small mask, rounded to whole numbers."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw small whole numbers from 0 on, which the kernel takes as unsigned; quarters of both signs as weights."""
    n, k = case.dims["n"], case.dims["k"]
    return {
        "image": rng.integers(0, 100, (n + k - 1, n + k - 1)).astype(np.int32),
        "mask": (rng.integers(-8, 9, (k, k)) / 4).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64: exact, since all products are quarters of whole numbers."""
    n, k = case.dims["n"], case.dims["k"]
    total = np.full((n, n), 0.5)
    for p in range(k):
        for q in range(k):
            total += inputs["image"][p : p + n, q : q + n] * inputs["mask"][p, q].astype(np.float64)
    return {"out": np.trunc(total)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the same, as 32-bit whole numbers."""
    return {"out": reference(inputs, case)["out"].astype(np.int32)}


def within(altered: Tensors, drawn: Tensors, case: Case) -> dict[str, Array]:
    """Round to quarters and to whole numbers that are not negative."""
    return {"image": np.clip(altered["image"], 0, 99), "mask": np.clip(np.round(altered["mask"] * 4) / 4, -2, 2)}
