"""Gradients of causal attention in half precision."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values."""
    shape = (case.dims["heads"], case.dims["s"], 64)
    q, k, v, g = (rng.standard_normal(shape, dtype=np.float32) for _ in range(4))
    k *= np.float32(0.125 / np.log(2))
    q, k, v = (x.astype(np.float16).astype(np.float32) for x in (q, k, v))
    scores = np.where(np.tri(shape[1], dtype=bool), q @ k.transpose(0, 2, 1), -np.inf)
    top = scores.max(axis=2, keepdims=True)
    power = np.exp2(scores - top)
    total = power.sum(axis=2, keepdims=True)
    return {"q": q, "k": k, "v": v, "o": power / total @ v, "g": g, "l": (np.log2(total) + top)[..., 0]}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32, with the probabilities and their gradients rounded to float16, as operands of the second products."""
    return _computed({name: x.astype(np.float32) for name, x in inputs.items()}, case, np.float16)


def _computed(inputs: Tensors, case: Case, operand: type = np.float64) -> dict[str, Array]:
    q, k, v, o, g, total = (inputs[name] for name in ("q", "k", "v", "o", "g", "l"))
    power = np.exp2(q @ k.transpose(0, 2, 1) - total[..., None]) * np.tri(q.shape[1], dtype=q.dtype)
    step = power * (g @ v.transpose(0, 2, 1) - (o * g).sum(axis=2, keepdims=True))
    power, step = (x.astype(operand).astype(q.dtype) for x in (power, step))
    dk = step.transpose(0, 2, 1) @ q * q.dtype.type(0.125)
    return {"dq": step @ k * q.dtype.type(np.log(2)), "dk": dk, "dv": power.transpose(0, 2, 1) @ g}
