"""Blocks of 256 in a code of 256 values."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values near those of the code, times the scale of a block, which its first one is."""
    n = case.dims["n"]
    code = np.linspace(-1, 1, 256, dtype=np.float32)
    scale = rng.uniform(0.5, 2, -(-n // 256)).repeat(256)[:n]
    x = scale * (code[rng.integers(1, 255, n)] + rng.uniform(-0.0015, 0.0015, n))
    x[::256] = scale[::256]
    return {"code": code, "x": x.astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    code, x = inputs["code"], inputs["x"]
    wide = np.zeros(-(-len(x) // 256) * 256, x.dtype)
    wide[: len(x)] = x
    blocks = wide.reshape(-1, 256)
    s = np.abs(blocks).max(axis=1)
    scaled = (blocks * (1 / s)[:, None]).reshape(-1)[: len(x)]
    y = np.abs(scaled[:, None] - code[None, :]).argmin(axis=1)
    return {"y": y.astype(np.uint8), "s": s}
