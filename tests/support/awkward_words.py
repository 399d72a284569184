"""Operands that find faults of integer arithmetic: ends of ranges, powers of two, bytes and halves alike, then any."""

from __future__ import annotations

import numpy as np

ENDS = (0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000)
PATTERNS = (0x7FFFFFFF, 0x80000000, 0x80000001, 0x55555555, 0xAAAAAAAA, 0x00FF00FF, 0x80008000, 0x7F80FF01, 0x01FF807F)
WORDS = np.array(
    (*ENDS, *(-np.array(ENDS[1:])), *PATTERNS, 31, 32, 33, 63, 64, 0x3C00, 0x7C00, 0x7F800000, 0x0C0D0B0A), np.int64
).astype(np.uint32)


def awkward_words(count: int, operands: int, seed: int) -> list[np.ndarray]:
    """`operands` arrays (count,) of uint32: all pairs of awkward words first, then awkward and random ones mixed."""
    rng = np.random.default_rng(seed)
    mixed = []
    for _ in range(operands):
        random = rng.integers(0, 1 << 32, count, np.uint64).astype(np.uint32)
        narrow = random >> rng.integers(0, 32, count).astype(np.uint32)
        kind = rng.integers(0, 4, count)
        mixed.append(np.where(kind == 0, rng.choice(WORDS, count), np.where(kind == 1, narrow, random)))
    first, second = (grid.ravel() for grid in np.meshgrid(WORDS, WORDS))
    pairs = min(count, first.size)
    mixed[0][:pairs] = first[:pairs]
    if operands > 1:
        mixed[1][:pairs] = second[:pairs]
    return mixed
