"""Operands of sparse matrix instructions by AMD's layouts: which elements of A are kept, and the index that says so."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.support.matrix_layouts import names, oracle, positions

SPARSE = names("smfmac")
PAIRS = np.array(list(itertools.permutations(range(4), 2)))  # in either order
# (CBSZ, ABID) for 8 and 16 bits of index an instruction, and the set of the index each of them means
SETS = {
    8: [(0, 0, 0), (0, 1, 1), (0, 2, 2), (0, 3, 3), (1, 3, 0), (2, 1, 0)],
    16: [(0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 0, 0)],
}


def index_bits(name: str) -> int:
    """Bits of one lane's index that an instruction uses."""
    return 4 * len(oracle()[name]["index"]["slots"])


def chosen(name: str) -> npt.NDArray[np.int64]:
    """Which two of each four elements of A are kept: [row, group, 2]."""
    about = oracle()[name]
    return PAIRS[np.random.default_rng(about["k"]).integers(0, len(PAIRS), (about["m"], about["k"] // 4))]


def kept(name: str, a: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A with zeros in place of what is not kept: [1, row, k]."""
    keep = np.zeros((oracle()[name]["m"], oracle()[name]["k"] // 4, 4), bool)
    np.put_along_axis(keep, chosen(name), True, axis=2)
    return np.where(keep.reshape(a.shape), a, np.zeros((), a.dtype))


def compressed(name: str, a: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The bytes of A in the lanes: two elements for each slot of the oracle."""
    index = positions(name, "A")
    row, group = index[..., 0], index[..., 1] // 4
    values = [a[0, row, 4 * group + chosen(name)[row, group, i]] for i in range(2)]
    return np.ascontiguousarray(np.stack(values, axis=-1)).view(np.uint8).reshape(-1)


def index(name: str, number: int) -> npt.NDArray[np.uint32]:
    """One register for each lane: the index in set `number`, noise in the others."""
    lanes = positions(name, "index")
    pair = chosen(name)[lanes[..., 0], lanes[..., 1] // 4]
    fields = (pair[..., 0] | pair[..., 1] << 2).astype(np.uint64)
    word = np.zeros(64, np.uint64)
    for slot, text in enumerate(oracle()[name]["index"]["slots"]):
        word |= fields[:, slot] << np.uint64(text.split(":")[1].rstrip("]"))
    bits = index_bits(name)
    mask = np.uint64((1 << bits) - 1 << bits * number)
    noise = np.random.default_rng(5).integers(0, 1 << 32, 64, np.uint64)
    return ((noise & ~mask) | word << np.uint64(bits * number)).astype(np.uint32)
