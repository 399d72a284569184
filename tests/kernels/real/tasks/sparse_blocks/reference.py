"""Blocks and columns of sparse attention."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Places of verticals, rising, and of slashes, falling."""
    return {
        "v": np.sort(np.argsort(rng.random((2, 512)), axis=1)[:, :8], axis=1).astype(np.int32),
        "s": -np.sort(-np.argsort(rng.random((2, 512)), axis=1)[:, :6], axis=1).astype(np.int32),
        "q": np.array([512], np.int32),
        "nv": rng.integers(2, 9, 2).astype(np.int32),
        "ns": rng.integers(2, 6, 2).astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    bc, cc = np.zeros((2, 8), np.int32), np.zeros((2, 8), np.int32)
    bo, ci = np.full((2, 8, 6), -1, np.int32), np.full((2, 8, 8), -1, np.int32)
    for head in range(2):
        verticals = [int(v) for v in inputs["v"][head][: inputs["nv"][head]]]
        slashes = [int(s) for s in inputs["s"][head][: inputs["ns"][head]]]
        for block in range(8):
            blocks, columns = _converted(verticals, slashes, 64 * (block + 1))
            bc[head, block], cc[head, block] = len(blocks), len(columns)
            bo[head, block, : len(blocks)], ci[head, block, : len(columns)] = blocks, columns
    return {"bc": bc, "bo": bo, "cc": cc, "ci": ci}


def _converted(verticals: list[int], slashes: list[int], end: int) -> tuple[list[int], list[int]]:
    """Starts of key blocks and columns outside of them, for the 64 queries before `end`."""
    blocks, columns = list[int](), list[int]()
    places, s, left = iter(verticals[1:]), 1, True
    v, column = 1, verticals[0]
    slash = slashes[0]
    while slash >= end and s < len(slashes):
        slash, s = slashes[s], s + 1
    start = max(end - slash, 64) - 64 if slash <= end else end
    stop = start + 64
    while True:
        if column < stop:
            if column < start:
                columns.append(column)
            column, v = next(places, end + 64), min(v + 1, len(verticals))
            continue
        if s < len(slashes):
            slash, s = max(end - slashes[s], 64), s + 1
        elif v == len(verticals) or column > start:
            blocks += range(start, min(stop, 512), 64)
            return blocks, columns
        else:
            start, stop, left = end, end + 64, False
        if left and slash > stop + 64:
            blocks += range(start, min(stop, 512), 64)
            start, stop = slash - 64, slash
        elif left and slash > stop:
            stop += 64
