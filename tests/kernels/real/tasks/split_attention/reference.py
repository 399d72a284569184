"""Attention over two halves of the keys."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    d = case.dims
    shapes = {"q": d["s"], "k": d["keys"], "v": d["keys"]}
    return {name: rng.standard_normal((d["b"], d["h"], n, 64), dtype=np.float32) for name, n in shapes.items()}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    q, k, v = (inputs[name].astype(np.float64 if inputs[name].dtype == np.float64 else np.float32) for name in "qkv")
    part = -(-case.dims["keys"] // 128) * 64
    found: dict[str, list[Array]] = {"o": [], "lse": []}
    for keys, values in ((k[:, :, :part], v[:, :, :part]), (k[:, :, part:], v[:, :, part:])):
        scores = q @ keys.swapaxes(2, 3) / 8
        top = scores.max(axis=-1, keepdims=True)
        p = np.exp(scores - top)
        total = p.sum(axis=-1, keepdims=True)
        if q.dtype == np.float32:  # probabilities are bfloat16 in the second product
            p = (p.view(np.uint32) & 0xFFFF0000).view(np.float32)
        found["o"].append(p @ values / total)
        found["lse"].append((np.log(total) + top)[..., 0])
    return {name: np.stack(parts) for name, parts in found.items()}
