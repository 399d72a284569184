"""The first chunk of each sequence."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    chunks, sequences = case.dims["chunks"], case.dims["sequences"]
    ids = np.sort(rng.integers(0, sequences, 16 * chunks)).astype(np.int32)
    offsets = rng.integers(0, 16, chunks).astype(np.int32)
    return {"ids": ids, "places": np.arange(chunks, dtype=np.int32), "offsets": offsets}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    ids = inputs["ids"][16 * inputs["places"].astype(np.int64) + inputs["offsets"]]
    sequences = case.dims["sequences"]
    first = np.searchsorted(ids, np.arange(sequences), side="left")
    return {"y": np.append(first, case.dims["chunks"]).astype(np.int32)}
