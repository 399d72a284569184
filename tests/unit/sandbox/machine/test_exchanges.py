"""Exchanges between lanes by way of LDS, which touch no LDS, against their definition."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.memory_oracle import Array
from tests.support.register_steps import EXEC, Registers, Stepped, expanded, step

STATES = 40
LANES = np.arange(64)


def run(text: str, seed: int) -> tuple[Array, Array, Array, Stepped]:
    """Addresses, data, active lanes and what came of them: v16 from addresses in v2 and data in v3."""
    rng = np.random.default_rng(seed)
    address, data, old = (rng.integers(0, 1 << 32, (STATES, 64), np.uint64).astype(np.uint32) for _ in range(3))
    lanes = rng.random((STATES, 64)) < rng.choice([0.6, 1.0], (STATES, 1))
    bits = np.packbits(lanes, axis=1, bitorder="little").view("<u4")
    before = Registers({2: address, 3: data, 16: old}, {EXEC: bits[:, 0], EXEC + 1: bits[:, 1]})
    after = step(f"{text}\ns_waitcnt lgkmcnt(0)", before, [16])
    assert (after.vectors[16][~lanes] == old[~lanes]).all()
    return address, data, lanes, after


def check(source: Array, data: Array, lanes: Array, after: Stepped) -> None:
    """Lane l has the data of lane source[l], which is defined where that lane is active."""
    rows = np.arange(STATES)[:, None]
    defined = lanes[rows, source]
    expected = np.where(defined, data[rows, source], 0)
    assert (after.vectors[16][lanes & defined] == expected[lanes & defined]).all()
    assert ((expanded(after.vectors_defined[16]) == 0xFFFFFFFF)[lanes] == defined[lanes]).all()


@pytest.mark.parametrize("offset", [0, 4, 252, 1020])
def test_each_lane_pulls_from_the_lane_it_names(offset: int) -> None:
    address, data, lanes, after = run(f"ds_bpermute_b32 v16, v2, v3 offset:{offset}", offset)
    check((address + np.uint32(offset)) >> 2 & 63, data, lanes, after)


@pytest.mark.parametrize("offset", [0, 8])
def test_each_lane_pushes_to_the_lane_it_names(offset: int) -> None:
    address, data, lanes, after = run(f"ds_permute_b32 v16, v2, v3 offset:{offset}", offset)
    expected = np.zeros((STATES, 64), np.uint32)
    actual = np.zeros((STATES, 64), bool)
    for lane in LANES:  # the last one wins
        target = ((address[:, lane] + offset) >> 2 & 63).astype(int)
        rows = np.arange(STATES)[lanes[:, lane]]
        expected[rows, target[rows]] = data[rows, lane]
        actual[rows, target[rows]] = True
    assert (after.vectors[16][lanes & actual] == expected[lanes & actual]).all()
    assert (after.vectors[16][lanes & ~actual] == 0).all()


def permuted(text: str) -> Array:
    """The lane that each lane takes, by the swizzle's own words."""
    name, *numbers = text.removesuffix(")").replace("swizzle(", "").split(",")
    if name == "QUAD_PERM":
        return np.asarray(LANES & ~3 | np.array([int(n) for n in numbers])[LANES & 3])
    if name == "BITMASK_PERM":
        source = np.zeros(64, int)
        for bit, letter in enumerate(reversed(numbers[0].strip('"'))):
            own_bit = LANES >> bit & 1
            source |= {"0": own_bit * 0, "1": own_bit * 0 + 1, "p": own_bit, "i": 1 - own_bit}[letter] << bit
        return np.asarray(source | LANES & 32)
    size = int(numbers[0])
    block = LANES & ~(size - 1)
    sources = {"SWAP": LANES ^ size, "REVERSE": block + size - 1 - LANES % size}
    return block + int(numbers[1]) if name == "BROADCAST" else sources[name]


@pytest.mark.parametrize("text", [
    "QUAD_PERM,2,0,3,1", 'BITMASK_PERM,"01pip"', 'BITMASK_PERM,"ppp0i"', "BROADCAST,8,5", "BROADCAST,32,17", "SWAP,1",
    "SWAP,16", "REVERSE,4", "REVERSE,32",
])  # fmt: skip
def test_swizzles(text: str) -> None:
    _, data, lanes, after = run(f"ds_swizzle_b32 v16, v3 offset:swizzle({text})", len(text))
    check(np.broadcast_to(permuted(text), (STATES, 64)), data, lanes, after)
