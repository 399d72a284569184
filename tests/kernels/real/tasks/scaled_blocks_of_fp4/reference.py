"""Product of matrices of 4-bit floats with block scales."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Any numbers, and scales from 2^-5 to 2^5."""
    m, n, k = (case.dims[name] for name in "mnk")
    shapes = {"a": (m, k // 2), "b": (k // 2, n), "sa": (m // 32, k), "sb": (n // 32, k)}
    return {
        name: rng.integers(*((122, 133) if name[0] == "s" else (0, 256)), shape).astype(np.uint8)
        for name, shape in shapes.items()
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(inputs, np.float64)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(inputs, np.float32)


def _computed(inputs: Tensors, kind: type) -> dict[str, Array]:
    a = _values(inputs["a"], kind) * np.repeat(_scales(inputs["sa"], kind), 32, axis=1)
    b = _values(inputs["b"].T, kind) * np.repeat(_scales(inputs["sb"], kind), 32, axis=1)
    return {"c": a @ b.T}


def _values(pairs: Array, kind: type) -> Array:
    """The e2m1 numbers of bytes, the low one first."""
    known = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], kind)
    return np.concatenate([known, -known])[np.stack([pairs & 15, pairs >> 4], axis=2)].reshape(pairs.shape[0], -1)


def _scales(lines: Array, kind: type) -> Array:
    """The scale of each row and each block of 32, from their order in lines of 32 rows."""
    parts = lines.reshape(lines.shape[0], -1, 2, 32, 4).transpose(0, 3, 1, 4, 2)
    return np.exp2(parts.reshape(32 * lines.shape[0], -1).astype(kind) - 127)
