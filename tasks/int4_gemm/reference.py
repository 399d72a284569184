"""Product of bfloat16 vectors with weights of four bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal vectors with an outlier, weights of all sixteen values, scales that differ by block."""
    m, n, k = (case.dims[name] for name in ("m", "n", "k"))
    x = rng.standard_normal((m, k), dtype=np.float32)
    x[np.arange(m), rng.integers(k, size=m)] *= np.float32(8)
    scale = rng.uniform(0.25, 1, (n, k // 128)).astype(np.float32)
    scale *= rng.choice(np.array([-1, 1], np.float32), scale.shape)
    return {
        "x": x.astype(ml_dtypes.bfloat16),
        "w": rng.integers(256, size=(n, k // 2), dtype=np.uint8),
        "scale": scale / np.float32(8),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": inputs["x"].astype(np.float64) @ _weights(inputs).astype(np.float64).T}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, rounded once to bfloat16."""
    return {"y": (inputs["x"].astype(np.float32) @ _weights(inputs).T).astype(ml_dtypes.bfloat16)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make scales of very different size, and weights below the zero point alone."""
    scale = inputs["scale"]
    wide = (10.0 ** rng.uniform(-2, 2, (len(scale), 1))).astype(np.float32)
    return {"scaled": {**inputs, "scale": scale * wide}, "low": {**inputs, "w": inputs["w"] & np.uint8(0x77)}}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Turn the halves of a byte the wrong way round, take one scale a row, or no zero point."""
    x, w = inputs["x"].astype(np.float32), inputs["w"]
    turned = {**inputs, "w": (w << 4 | w >> 4).astype(np.uint8)}
    first = {**inputs, "scale": np.broadcast_to(inputs["scale"][:, :1], inputs["scale"].shape)}
    found = {
        "the halves of a byte turned": x @ _weights(turned).T,
        "the first scale of a row": x @ _weights(first).T,
        "no zero point": x @ _weights(inputs, 0).T,
        "a zero point of 7": x @ _weights(inputs, 7).T,
    }
    return {name: {"y": y.astype(ml_dtypes.bfloat16)} for name, y in found.items()}


def _weights(inputs: Tensors, zero: int = 8) -> Array:
    """Return the weights in float32, n x k."""
    w = inputs["w"]
    q = np.stack([w & np.uint8(15), w >> 4], axis=2).reshape(len(w), -1).astype(np.float32)
    return np.asarray((q - np.float32(zero)) * np.repeat(inputs["scale"], 128, axis=1))
