"""Blocks of 256 weights of two or three bits."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    n = case.dims["n"]
    blocks = rng.integers(0, 256, (n, 256), dtype=np.uint8)
    scales = rng.choice([-1.0, 1.0], (n, 16)) * rng.uniform(0.01, 2.0, (n, 16))
    blocks[:, :32] = scales.astype(np.float16).view(np.uint8).reshape(n, 32)
    return {"x": blocks}


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
    element = np.arange(256)
    group, place = element // 16, element % 16
    scale = np.ascontiguousarray(x[:, :32]).view(np.float16).astype(np.float64)[:, group]
    low = x[:, 36 + group * 4 + place // 4] >> (place % 4 * 2).astype(np.uint8) & 3
    high = x[:, 32 + group].astype(np.int64) >> place & 1
    return {"y": (scale * ((low | high << 2) - 2)).astype(np.float32)}
