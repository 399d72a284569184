"""The judge's own kernels as numpy computes them, for the tests whose subject is the judge and not these kernels.

`test_layout.py` compares them with what the lab executes. Each takes the number of sets, the bytes of the arguments,
one behind the other, and a function that finds the allocation behind an address.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from sandbox.gpu import layout
from sandbox.gpu.layout import BLOCK, OUTPUT, UNCHANGED

Words = npt.NDArray[np.uint64]
Find = Callable[[int, int], npt.NDArray[np.uint8] | None]  # address, bytes


def _noise(sets: int, packed: bytes, find: Find) -> None:
    base, words, seed, noisy = struct.unpack("<QqQi", packed)
    _found(find, base, 8 * words)[:] = layout.noise(seed, words) if noisy else np.uint64(2**64 - 1)


def _refresh(sets: int, packed: bytes, find: Find) -> None:
    arena, a, b, blocks, seed, is_whole = struct.unpack("<QQQqQi", packed)
    nbytes = BLOCK * blocks
    arena_words = _found(find, arena, sets * nbytes).reshape(sets, blocks, 2)
    for number, words in enumerate(arena_words):
        words[:] = _content(find, a, b, blocks, layout.set_seed(seed, number), is_whole)


def _inspect(sets: int, packed: bytes, find: Find) -> None:
    arena, a, b, roles, blocks, seed, is_whole, report = struct.unpack("<QQQQqQiQ", packed)
    arena_words = _found(find, arena, sets * BLOCK * blocks).reshape(sets, blocks, 2)
    role = find(roles, blocks)
    assert role is not None
    report_words = _found(find, report, 16 * sets).reshape(sets, 2)
    moves = np.stack([layout.noise(1, blocks), layout.noise(2, blocks)], axis=1)
    for number, words in enumerate(arena_words):
        differs = (words != _content(find, a, b, blocks, layout.set_seed(seed, number), is_whole)).any(axis=1)
        report_words[number, 0] += np.uint64(np.count_nonzero(differs & (role == UNCHANGED)))
        is_output = role == OUTPUT
        report_words[number, 1] += layout._mixed(words[is_output] + moves[is_output]).sum(dtype=np.uint64)


KERNELS: Mapping[str, Callable[[int, bytes, Find], None]] = {
    "trusted_noise": _noise,
    "trusted_refresh": _refresh,
    "trusted_inspect": _inspect,
}


def computed(name: str, sets: int, packed: bytes, find: Find) -> list[str]:
    """Do the kernel's work. The lab would have no finding either."""
    KERNELS[name](sets, packed, find)
    return []


def _found(find: Find, address: int, nbytes: int) -> Words:
    region = find(address, nbytes)
    assert region is not None, f"{nbytes} bytes at {address:#x} are in no allocation"
    return region.view(np.uint64)


def _content(find: Find, a: int, b: int, blocks: int, seed: int, is_whole: int) -> Words:
    """What a set holds whose seed is `own`: each block from one of the bases."""
    base_a, base_b = (_found(find, address, BLOCK * blocks).reshape(blocks, 2) for address in (a, b))
    return np.where(layout.takes_b(seed, 0, blocks, bool(is_whole))[:, None], base_b, base_a)
