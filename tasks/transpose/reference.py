"""Transpose of a float32 matrix."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values of very different magnitude: each row and column has large and small ones at random places."""
    x = rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)
    np.ldexp(x, rng.integers(-30, 31, x.shape, dtype=np.int8), out=x)
    return {"x": x}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return the transposed values in float64."""
    return {"y": np.ascontiguousarray(inputs["x"].T).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return a copy, which is exact."""
    return {"y": np.ascontiguousarray(inputs["x"].T)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make each element say where it comes from, in order and shuffled: any misplaced one shows."""
    x = inputs["x"]
    places = np.arange(x.size, dtype=np.float32).reshape(x.shape) + 1
    return {"indices": {"x": places}, "shuffled": {"x": rng.permutation(places.ravel()).reshape(x.shape)}}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take tiles for symmetric, leave them where they were, or leave them out; fewer bits."""
    x = inputs["x"]
    rows, cols = x.shape
    y = np.ascontiguousarray(x.T)
    with np.errstate(over="ignore"):
        found = {"the shape alone": x.reshape(cols, rows), "half precision": y.astype(np.float16).astype(np.float32)}
    for tile in (16, 32, 64):
        inside, mirrored, edge = y.copy(), y.copy(), y.copy()
        for j in range(0, min(rows, cols) - tile + 1, tile):
            block = slice(j, j + tile)
            inside[block, block] = x[block, block]
            mirrored[block, block] = np.triu(y[block, block]) + np.triu(y[block, block], 1).T
        edge[cols // tile * tile :, :] = 0
        edge[:, rows // tile * tile :] = 0
        found[f"tiles of {tile} on the diagonal not transposed inside"] = inside
        found[f"tiles of {tile} on the diagonal taken for symmetric"] = mirrored
        found[f"whole tiles of {tile} only"] = edge
    return {name: {"y": answer} for name, answer in found.items()}
