"""Counts of values."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

FEW = 1 / 256


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw half of the values spread evenly, half close to a random one of them."""
    n, bins = case.dims["n"], case.dims["bins"]
    values = rng.integers(bins, size=n)
    near = (rng.standard_normal(n) * bins / 16).astype(np.int64) + rng.integers(bins)
    return {"values": np.where(rng.random(n) < 0.5, values, near % bins).astype(np.int32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute exactly."""
    return {"counts": np.bincount(inputs["values"], minlength=case.dims["bins"]).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute exactly."""
    return {"counts": np.bincount(inputs["values"], minlength=case.dims["bins"]).astype(np.int32)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make one value everywhere, so that all work-items meet, or nearly everywhere, and all values equally often."""
    n, bins = case.dims["n"], case.dims["bins"]
    return {
        "one_value": {"values": np.full(n, rng.integers(bins), np.int32)},
        "few_differ": {"values": np.where(rng.random(n) < FEW, inputs["values"], rng.integers(bins)).astype(np.int32)},
        "even": {"values": rng.permutation(np.arange(n) % bins).astype(np.int32)},
    }


def within(made: Tensors, drawn: Tensors, case: Case) -> dict[str, Array]:
    """Take values that are no bin's number back to those that were drawn."""
    is_bin = (made["values"] >= 0) & (made["values"] < case.dims["bins"])
    return {"values": np.where(is_bin, made["values"], drawn["values"])}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Return counts of some of the values, counters that overflow or lose additions, and something else than counts."""
    values, bins = inputs["values"], case.dims["bins"]
    counts, half = np.bincount(values, minlength=bins), np.bincount(values[::2], minlength=bins)
    lanes = -(-values.size // 64)
    padded = np.concatenate([values, np.full(lanes * 64 - values.size, -1, values.dtype)]).reshape(lanes, 64)
    met = np.concatenate([np.unique(wave[wave >= 0]) for wave in padded])
    found = {
        "every second value, twice": 2 * half,
        "counters of 8 bits": counts & 255,
        "one addition for a wave's equal values": np.bincount(met, minlength=bins),
        "whether a value is there": counts > 0,
        "the running counts": np.cumsum(counts),
        "the same count everywhere": np.full(bins, values.size // bins),
    }
    return {name: {"counts": made.astype(np.int32)} for name, made in found.items()}
