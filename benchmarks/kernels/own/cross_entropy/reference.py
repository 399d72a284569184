"""Softmax cross-entropy of each row."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw logits of different scale and level, some far above what exp can hold."""
    rows, classes = case.dims["rows"], case.dims["classes"]
    scale = rng.uniform(0.5, 8, (rows, 1)).astype(np.float32)
    level = rng.uniform(-200, 200, (rows, 1)).astype(np.float32)
    return {
        "logits": rng.standard_normal((rows, classes), dtype=np.float32) * scale + level,
        "target": rng.integers(classes, size=rows).astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"loss": _loss(inputs["logits"].astype(np.float64), inputs["target"])}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"loss": _loss(inputs["logits"], inputs["target"])}


def _loss(logits: Array, target: Array) -> Array:
    top = logits.max(axis=1)
    total = np.exp(logits - top[:, None]).sum(axis=1, dtype=logits.dtype)
    return np.asarray(np.log(total) + top - logits[np.arange(len(target)), target])
