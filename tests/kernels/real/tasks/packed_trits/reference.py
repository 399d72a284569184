"""Three bits of each word."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    return {"x": rng.integers(-32768, 32768, (case.dims["rows"], case.dims["cols"], 256)).astype(np.int16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    x = inputs["x"]
    bits = (x[..., None] >> np.array([2, 1, 0])) & 1
    words = np.packbits(bits.reshape(*x.shape[:2], 48, 16).astype(np.uint8), axis=-1).view(">u2")[..., 0]
    return {
        "y": words.reshape(*x.shape[:2], 24, 2)[..., ::-1].reshape(*x.shape[:2], 48).astype(np.uint16).view(np.int16)
    }
