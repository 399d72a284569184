"""Rotary position embedding of neighbouring pairs."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values and the sines and cosines of random angles."""
    tokens, heads, half = (case.dims[n] for n in ("tokens", "heads", "half"))
    angle = rng.uniform(0, 2 * np.pi, (tokens, half))
    return {
        "x": rng.standard_normal((tokens, heads, 2 * half), dtype=np.float32),
        "cosine": np.cos(angle).astype(np.float32),
        "sine": np.sin(angle).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": _turned(*(inputs[n].astype(np.float64) for n in ("x", "cosine", "sine")))}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": _turned(inputs["x"], inputs["cosine"], inputs["sine"])}


def _turned(x: Array, cosine: Array, sine: Array) -> Array:
    c, s = cosine[:, None, :], sine[:, None, :]
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * c - odd * s, even * s + odd * c], axis=-1).reshape(x.shape)
