"""Remainders of several dims together: every pair of remainders of every two dims, in as few cases as there are pairs.

The rows of an orthogonal array of strength two over the field of 32 elements (K. A. Bush, "Orthogonal arrays of index
unity", 1952), in a drawn order. A tile that is ragged along two dims meets each of its ways so.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LEVELS = 32
RUNS = LEVELS**2
_BITS, _MODULUS = 5, 0b100101  # x^5 + x^2 + 1 has no factor over two elements

Numbers = npt.NDArray[np.int64]


def paired_remainders(factors: int, rng: np.random.Generator) -> Numbers:
    """Draw remainders by 32, int64 (1024, factors): any two columns hold every pair once.

    Of more than 32, those 32 apart are alike but for a shift.
    """
    first, second = (digit.astype(np.int64)[:, np.newaxis] for digit in np.divmod(rng.permutation(RUNS), LEVELS))
    return first ^ _times(second, np.arange(factors, dtype=np.int64)) ^ rng.integers(LEVELS, size=factors)


def _times(many: Numbers, numbers: Numbers) -> Numbers:
    """Multiply in the field of 32 elements; shapes are broadcast."""
    product = np.zeros(np.broadcast_shapes(many.shape, numbers.shape), np.int64)
    for bit in range(_BITS):
        product ^= np.where(numbers >> bit & 1, many << bit, 0)
    for bit in range(2 * _BITS - 2, _BITS - 1, -1):
        product ^= np.where(product >> bit & 1, _MODULUS << bit - _BITS, 0)
    return product
