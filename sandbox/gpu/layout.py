"""The contents of a set's buffers in a call: each block of 16 bytes is base A's or base B's, drawn by a secret seed.

The GPU computes them in `trusted/kernels.hip`; here is the same in numpy, for the side that knows the right answers.
SplitMix64 after Steele, Lea and Flood (OOPSLA 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from records.computed_once import computed_once

BLOCK = 16  # bytes
ALIGNMENT = 256
RED_ZONE = 64 << 10
UNCHANGED, OUTPUT, WORKSPACE = 0, 1, 2
ROLES = {"input": UNCHANGED, "output": OUTPUT, "workspace": WORKSPACE, "inout": OUTPUT}
FILLED = ("input", "inout")  # roles of buffers with contents before a call
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class BufferPlace:
    """The place of a buffer in a set; bytes."""

    name: str
    role: str  # input | output | workspace | inout
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Layout:
    """One set: buffers between red zones. Everything that is no buffer must stay as it was."""

    places: tuple[BufferPlace, ...]
    nbytes: int

    def __getitem__(self, name: str) -> BufferPlace:
        return self._by_name[name]

    @computed_once
    def _by_name(self) -> Mapping[str, BufferPlace]:
        return {buffer.name: buffer for buffer in self.places}

    @property
    def outputs(self) -> tuple[BufferPlace, ...]:
        """The places of the outputs."""
        return tuple(p for p in self.places if p.role in ("output", "inout"))

    @property
    def blocks(self) -> int:
        """Blocks of 16 bytes."""
        return self.nbytes // BLOCK


def block_roles(buffers: Sequence[BufferPlace], blocks: int) -> npt.NDArray[np.uint8]:
    """Compute the role of each block of a set; the last block of a buffer belongs to it entirely."""
    roles = np.zeros(blocks, np.uint8)
    for buffer in buffers:
        roles[buffer.offset // BLOCK : -(-(buffer.offset + buffer.nbytes) // BLOCK)] = ROLES[buffer.role]
    return roles


def lay_out(buffers: Sequence[tuple[str, str, int]], zone: int = RED_ZONE) -> Layout:
    """Place (name, role, bytes), with a red zone of so many bytes before, between and behind."""
    laid_out, offset = [], zone
    for name, role, nbytes in buffers:
        laid_out.append(BufferPlace(name, role, offset, nbytes))
        offset += -(-nbytes // ALIGNMENT) * ALIGNMENT + zone
    return Layout(tuple(laid_out), offset)


def draw(seed: int, index: int) -> int:
    """Draw the index-th number of a seed's stream."""
    return int(_mixed(np.array([(seed + (index + 1) * _GOLDEN) & _MASK], np.uint64))[0])


def takes_b(seed: int, first: int, count: int, is_whole: bool) -> npt.NDArray[np.bool_]:
    """Draw for blocks `first`... of a set with this seed whether they are base B's."""
    if is_whole:
        return np.full(count, bool(seed & 1))
    index = np.arange(first, first + count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        return (_mixed(np.uint64(seed) + (index + np.uint64(1)) * np.uint64(_GOLDEN)) & np.uint64(1)).astype(bool)


def set_seed(seed: int, number: int) -> int:
    """Derive one set's seed in a window or call. Its last bit is a whole set's base: neighbours never have the same."""
    return draw(seed, number) & ~1 | (seed ^ number) & 1


def content(
    a: npt.NDArray[Any], b: npt.NDArray[Any], buffer: BufferPlace, seed: int, is_whole: bool
) -> npt.NDArray[Any]:
    """Mix the contents of an input: flat arrays `a` and `b`, as the set with this seed mixes them."""
    blocks = -(-buffer.nbytes // BLOCK)
    choice = np.repeat(takes_b(seed, buffer.offset // BLOCK, blocks, is_whole), BLOCK)[: buffer.nbytes]
    return np.where(choice, b.view(np.uint8), a.view(np.uint8)).view(a.dtype)


def noise(seed: int, words: int) -> Words:
    """Compute the words that `trusted_noise` writes, for the sentinel."""
    with np.errstate(over="ignore"):
        return _mixed(np.uint64(seed) + (np.arange(words, dtype=np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN))


def _mixed(z: Words) -> Words:
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
