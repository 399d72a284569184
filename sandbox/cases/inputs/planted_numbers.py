"""A number among the values of an input, as a kernel may compare it: itself, its neighbours, its bits, its bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sandbox.cases.inputs.patterned import Rng
from tasks.dtypes import is_float, to_float64
from tasks.task import Array

SHARES = (1 / 64, 1 / 4)  # of the values that are replaced, in one try or another
AT_ENDS = 1 / 4  # of the lines begin with a number, and so many end with one
SIDES = (1.0, -1.0, 2.0, 0.5)  # times it: where a sum or a difference of two is compared, and the other side
WORDS = (8, 16)  # lowest bits of a value, as hashes and packed fields are compared
WORD_BYTES = 4  # of packed values that are compared at once


def planted_number(x: Array, number: float, rng: Rng) -> Array:
    """Replace some values by the number, by a neighbour, or by their own with its bits lowest; some lines' ends."""
    if not is_float(x.dtype) and number == int(number) and not _holds(x.dtype, int(number)):
        return _with_words(x, int(number), rng)
    values = _fitting(number, x)
    has_words = is_float(x.dtype) and x.itemsize == 4 and number == int(number) and 0 < number < 1 << WORDS[-1]
    if not values.size and not has_words:
        return x
    chosen = rng.random(x.shape) < rng.choice(SHARES)
    for end in (0, -1) if x.ndim else ():
        chosen[..., end] |= rng.random(x.shape[:-1]) < AT_ENDS
    changed, count = np.array(x), int(np.count_nonzero(chosen))
    new = rng.choice(values, count) if values.size else changed[chosen]
    if has_words:
        new = np.where(rng.random(count) < 0.5, _with_low_bits(changed[chosen], int(number), rng), new)
    changed[chosen] = new
    return changed


def _fitting(number: float, x: Array) -> Array:
    """Give the number and its neighbours, as far as the array's type holds them; whole ones within what it holds."""
    if not is_float(x.dtype):
        near = {int(number) + by for by in (-1, 0, 1)} if number == int(number) and x.size else set()
        return np.array(sorted(n for n in near if x.min() <= n <= x.max()), x.dtype)
    multiples = np.array([side * number for side in SIDES]).astype(x.dtype)
    single = multiples.astype(np.float32)
    beside = [np.nextafter(single, np.float32(to)).astype(x.dtype) for to in (-np.inf, np.inf)]
    numbers: Array = np.concatenate([multiples, *beside])
    return np.asarray(numbers[np.isfinite(to_float64(numbers)) & (numbers != 0)])


def _holds(dtype: np.dtype[Any], number: int) -> bool:
    about = np.iinfo(dtype)
    return bool(about.min <= number <= about.max)


def _with_words(x: Array, word: int, rng: Rng) -> Array:
    """Put this word into some four bytes of packed values, as a kernel reads and compares them."""
    if not x.ndim or x.shape[-1] * x.itemsize % WORD_BYTES or not -(1 << 31) <= word < 1 << 32:
        return x
    words = np.ascontiguousarray(x).view(np.uint32)
    chosen = rng.random(words.shape) < rng.choice(SHARES)
    return np.where(chosen, np.uint32(word & 0xFFFFFFFF), words).view(x.dtype)


def _with_low_bits(x: Array, word: int, rng: Rng) -> Array:
    """Replace the values' lowest bits, eight of them where the word has no more."""
    is_narrow = (rng.random(x.shape) < 0.5) & (word < 1 << WORDS[0])
    mask = np.where(is_narrow, (1 << WORDS[0]) - 1, (1 << WORDS[1]) - 1).astype(np.uint32)
    bits: Array = (x.view(np.uint32) & ~mask) | np.uint32(word)
    return bits.view(x.dtype)
