"""Counts of the numbers that many generators draw."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw counts to begin with."""
    return {"begun": rng.integers(-1000, 1000, case.dims["size"]), "from": rng.integers(-1000, 1000, 1)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the counts, as float64, which is exact for them."""
    return {name: counts.astype(np.float64) for name, counts in baseline(inputs, case).items()}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute the counts, turn by turn for all generators."""
    items, turns, size = (case.dims[name] for name in ("items", "turns", "size"))
    state = [_mixed(np.arange(items, dtype=np.uint32) * np.uint32(5) + np.uint32(i + 1)) for i in range(5)]
    counter, table = np.uint32(0), inputs["begun"].copy()
    for _ in range(turns):
        moved = state[0] ^ (state[0] >> np.uint32(2))
        last = (state[4] ^ (state[4] << np.uint32(4))) ^ (moved ^ (moved << np.uint32(1)))
        state = [*state[1:], last]
        counter = np.uint32((int(counter) + 362437) & 0xFFFFFFFF)
        table += np.bincount((last + counter) % np.uint32(size), minlength=size)
    return {"table": table, "rounds": inputs["from"] + items * -(-turns // 200)}


def _mixed(x: Array) -> Array:
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return np.asarray(x ^ (x >> np.uint32(16)))
