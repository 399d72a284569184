"""Tokens and slots of the next step."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Tokens, pages, lengths below 127."""
    q = case.dims["q"]
    return {
        "sampled": rng.integers(0, 32000, q),
        "tables": rng.integers(0, 1000, (q, 8)).astype(np.int32),
        "length0": rng.integers(1, 127, q).astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    q, pad, n = case.dims["q"], case.dims["pad"], inputs["length0"]
    slots = inputs["tables"][np.arange(q), n // 16] * 16 + n % 16
    zeros = np.zeros(pad, np.int64)
    return {
        "tokens": np.concatenate([inputs["sampled"], zeros]),
        "positions": np.concatenate([n.astype(np.int64), zeros]),
        "slots": np.concatenate([slots.astype(np.int64), zeros - 1]),
        "lengths": n + 1,
        "last": n % 16 + 1,
        "bound": (n + 16) // 16,
    }
