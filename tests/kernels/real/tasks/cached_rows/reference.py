"""Keys and values of tokens in the slots of a cache."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Normal values; a permutation."""
    count = 16 * case.dims["b"]
    return {
        "k": rng.standard_normal((count, 64), dtype=np.float32),
        "v": rng.standard_normal((count, 64), dtype=np.float32),
        "slots": rng.permutation(count).astype(np.int64),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed({name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}, case)


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    k, v, slots = inputs["k"], inputs["v"], inputs["slots"]
    kc, vc = np.empty_like(k), np.empty_like(v)
    kc[slots], vc[slots] = k, v
    return {"kc": kc, "vc": vc}
