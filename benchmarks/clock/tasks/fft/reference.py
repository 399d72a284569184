"""Fourier transforms of 512 complex numbers each, in place."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values."""
    return {"x": rng.standard_normal((case.dims["batch"], 512, 2)).astype(np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    spectrum = np.fft.fft(inputs["x"][..., 0] + 1j * inputs["x"][..., 1].astype(np.float64))
    return {"y": np.stack([spectrum.real, spectrum.imag], axis=-1)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32: nine rounds of butterflies, with factors in float32."""
    z = (inputs["x"][..., 0] + 1j * inputs["x"][..., 1]).astype(np.complex64)
    parts = z.reshape(-1, 512, 1)
    while parts.shape[1] > 1:
        half, length = parts.shape[1] // 2, parts.shape[2]
        turns = np.exp(-1j * np.pi * np.arange(length) / length).astype(np.complex64)
        even, odd = parts[:, :half], parts[:, half:] * turns
        parts = np.concatenate([even + odd, even - odd], axis=2)
    y = parts.reshape(-1, 512)
    return {"y": np.stack([y.real, y.imag], axis=-1)}
