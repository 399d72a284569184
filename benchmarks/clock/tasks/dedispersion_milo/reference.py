"""Sums over channels that are shifted by how much a dispersion delays them."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw any bytes. Shifts fall from channel to channel to 0, as a frequency's inverse square does."""
    channels = case.dims["channels"]
    frequency = 1425.0 + 300.0 * np.arange(channels) / max(1, channels - 1)
    delay = frequency**-2.0 - frequency[-1] ** -2.0
    return {
        "x": rng.integers(0, 256, (channels, case.dims["samples"] + 650)).astype(np.uint8),
        "shifts": (rng.uniform(8.0, 15.8) * delay / max(delay[0], 1e-30)).astype(np.float32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute exactly: sums of bytes."""
    measures, samples = case.dims["measures"], case.dims["samples"]
    y = np.zeros((measures, samples))
    steps = np.arange(measures, dtype=np.float32) * np.float32(0.02)
    for channel, shift in zip(inputs["x"], inputs["shifts"], strict=True):
        starts = (steps * shift).astype(np.int64)
        y += channel[starts[:, None] + np.arange(samples)]
    return {"y": y}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the same as float32."""
    return {"y": reference(inputs, case)["y"].astype(np.float32)}


def within(altered: Tensors, drawn: Tensors, case: Case) -> dict[str, Array]:
    """Keep the shifts, which are promised."""
    return {"shifts": drawn["shifts"]}
