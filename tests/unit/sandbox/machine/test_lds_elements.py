"""LDS beside plain loads and stores: two elements at once, places named by M0, loads from memory straight into LDS."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.machine.instruction_set import instruction_table
from tests.support.memory_oracle import Array
from tests.support.register_steps import BUFFER, EXEC, M0, MEMORY_BYTES, Registers, Stepped, expanded, step

STATES, LONG_STATES, CHUNK = 24, 15_625, 3_125
WAIT = "\ns_waitcnt vmcnt(0) lgkmcnt(0)"
TWO = [n for n, row in instruction_table().items() if n.startswith(("ds_read2", "ds_write2", "ds_wrxchg2"))]
TO_LDS = [n for n in instruction_table() if "_load_lds_" in n]
BUFFERS_TO_LDS = ["dword", "ubyte", "sbyte", "ushort", "sshort"]
PIECES = {"dword": "<i4", "ubyte": "u1", "sbyte": "i1", "ushort": "<u2", "sshort": "<i2"}


def random_words(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(0, 1 << 32, shape, np.uint64).astype(np.uint32)


def lanes_of(rng: np.random.Generator, states: int) -> tuple[Array, dict[int, Array]]:
    lanes = rng.random((states, 64)) < rng.choice([0.4, 1.0], (states, 1))
    lanes[:, 7] = True
    bits = np.packbits(lanes, axis=1, bitorder="little").view("<u4")
    return lanes, {EXEC: bits[:, 0], EXEC + 1: bits[:, 1]}


def run(text: str, vectors: dict[int, Array], scalars: dict[int, Array], memory: dict[str, Array]) -> Stepped:
    after = step(text + WAIT, Registers(vectors, scalars, memory=memory), range(16, 20))
    assert not after.reports.any(), text
    return after


def check_two(name: str, states: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    wide = name.endswith("64")
    size, stride = (8, 512) if wide else (4, 256)
    stride = stride if "st64" in name else size
    lanes, exec_ = lanes_of(rng, states)
    memory = rng.integers(0, 256, (states, MEMORY_BYTES), np.uint8)
    # A lane has eight places of its own, so that no lane stores where another does.
    lane_offset = rng.permuted(np.tile(np.arange(64), (states, 1)), axis=1) * size
    offsets = [int(rng.integers(0, 8 if wide else 16)) if "st64" in name else 64 * k for k in rng.permutation(3)[:2]]
    if offsets[0] == offsets[1]:
        offsets[1] = offsets[0] ^ 1
    base = int(rng.integers(0, 1 << 16)) * 8
    data, old = random_words(rng, states, 64, 4), random_words(rng, states, 64, 4)
    vectors = {2: (lane_offset - base).astype(np.uint32), 3: np.full((states, 64), base, np.uint32)}
    vectors |= {8 + i: data[..., i] for i in range(4)} | {16 + i: old[..., i] for i in range(4)}
    first, second, result = ("v[8:9]", "v[10:11]", "v[16:19]") if wide else ("v8", "v10", "v[16:17]")
    words = [result] * ("write2" not in name) + ["v2"] + [first, second] * ("read2" not in name)
    text = f"v_add_u32 v2, v2, v3\n{name} {', '.join(words)} offset0:{offsets[0]} offset1:{offsets[1]}"
    after = run(text, vectors, exec_, {"lds": memory})
    actual = np.stack([after.vectors[16 + i] for i in range(4)], axis=-1)
    expected, registers, rows = memory.copy(), old.copy(), np.arange(states)[:, None, None]
    dwords = size // 4
    for k, offset in enumerate(offsets):
        byte_offsets = (lane_offset + offset * stride)[..., None] + np.arange(size)
        values = expected[rows, byte_offsets]
        if "write2" not in name:
            registers[..., k * dwords : (k + 1) * dwords] = values.view("<u4")
        if "read2" not in name:
            new = np.ascontiguousarray(data[..., 2 * k : 2 * k + dwords]).view(np.uint8)
            expected[rows, byte_offsets] = np.where(lanes[..., None], new, values)
    assert (after.memory["lds"] == expected).all(), text
    assert (actual == np.where(lanes[..., None], registers, old)).all(), text


@pytest.mark.parametrize("name", TWO)
def test_two_elements(name: str) -> None:
    check_two(name, STATES, len(name))


@pytest.mark.long
@pytest.mark.parametrize("name", TWO)
def test_two_elements_of_a_million_lanes(name: str) -> None:
    for seed in range(LONG_STATES // CHUNK):
        check_two(name, CHUNK, seed)


@pytest.mark.parametrize("name", ["ds_read_addtid_b32", "ds_write_addtid_b32"])
def test_places_by_m0_and_lane(name: str) -> None:
    rng = np.random.default_rng(3)
    lanes, scalars = lanes_of(rng, STATES)
    memory = rng.integers(0, 256, (STATES, MEMORY_BYTES), np.uint8)
    start = rng.integers(0, 900, STATES) * 4
    scalars[M0] = (start + 0xABC0000).astype(np.uint32)  # its lower half counts
    data = random_words(rng, STATES, 64)
    after = run(f"{name} v16 offset:128", {16: data}, scalars, {"lds": memory})
    byte_offsets = (start[:, None] + 128 + 4 * np.arange(64))[..., None] + np.arange(4)
    rows = np.arange(STATES)[:, None, None]
    values = memory[rows, byte_offsets].view("<u4")[..., 0]
    if "read" in name:
        assert (after.vectors[16] == np.where(lanes, values, data)).all()
        return
    expected = memory.copy()
    expected[rows, byte_offsets] = np.where(lanes, data, values)[..., None].view(np.uint8)
    assert (after.memory["lds"] == expected).all()


@pytest.mark.parametrize(("name", "sign"), [("ds_append", 1), ("ds_consume", -1)])
def test_the_lanes_are_counted_at_one_place(name: str, sign: int) -> None:
    rng = np.random.default_rng(4)
    lanes, scalars = lanes_of(rng, STATES)
    memory = rng.integers(0, 256, (STATES, MEMORY_BYTES), np.uint8)
    start = rng.integers(0, 900, STATES) * 4
    old = random_words(rng, STATES, 64)
    after = run(f"{name} v16 offset:64", {16: old}, scalars | {M0: start.astype(np.uint32)}, {"lds": memory})
    words = memory.view("<u4").copy()
    counter = (np.arange(STATES), (start + 64) // 4)
    before = words[counter].copy()
    words[counter] += (sign * lanes.sum(axis=1)).astype(np.uint32)
    assert (after.memory["lds"].view("<u4") == words).all()
    assert (after.vectors[16] == np.where(lanes, before[:, None], old)).all()
    assert (expanded(after.vectors_defined[16]) == 0xFFFFFFFF).all()


def check_into_lds(name: str, space: str, address: str, first: Array, seed: int) -> None:
    """Each lane's piece becomes a word of LDS at M0, the instruction's offset and four times the lane."""
    rng = np.random.default_rng(seed)
    states = len(first)
    lanes, scalars = lanes_of(rng, states)
    memory = {space: rng.integers(0, 256, (states, MEMORY_BYTES), np.uint8)}
    memory["lds"] = rng.integers(0, 256, (states, MEMORY_BYTES), np.uint8)
    start = rng.integers(0, 900, states) * 4
    low = first - 16 if space == "buffer" else first % 64 - 16
    vectors = {2: low.astype(np.uint32), 3: np.full((states, 64), BUFFER >> 32, np.uint32)}
    words = {8: BUFFER & 0xFFFFFFFF, 9: BUFFER >> 32, 10: MEMORY_BYTES, 11: 0x27000, 4: 0, 5: BUFFER >> 32}
    scalars |= {M0: start.astype(np.uint32)} | {i: np.full(states, x, np.uint32) for i, x in words.items()}
    after = run(f"{name} {address}", vectors, scalars, memory)
    kind = np.dtype(PIECES[name.rpartition("_")[2]])
    rows = np.arange(states)[:, None, None]
    pieces = memory[space][rows, first[..., None] + np.arange(kind.itemsize)].view(kind)[..., 0]
    byte_offsets = (start[:, None] + 16 + 4 * np.arange(64))[..., None] + np.arange(4)
    expected = memory["lds"].copy()
    new = pieces.astype(np.int64).astype(np.uint32)[..., None].view(np.uint8)
    expected[rows, byte_offsets] = np.where(lanes[..., None], new, expected[rows, byte_offsets])
    assert (after.memory["lds"] == expected).all(), name


@pytest.mark.parametrize("name", TO_LDS)
@pytest.mark.parametrize("states", [STATES, pytest.param(LONG_STATES, marks=pytest.mark.long)])
def test_loads_straight_into_lds(name: str, states: int) -> None:
    rng = np.random.default_rng(len(name))
    if name.startswith("scratch"):
        first = rng.integers(16, 60, (states, 64)) + 64 * np.arange(64)
        check_into_lds(name, "scratch", "v2, off offset:16", first, 1)
    else:
        first = rng.integers(16, MEMORY_BYTES - 4, (states, 64))
        check_into_lds(name, "buffer", "v2, s[4:5] offset:16", first, 2)
        check_into_lds(name, "buffer", "v[2:3], off offset:16", first, 3)


@pytest.mark.parametrize("piece", BUFFERS_TO_LDS)
def test_loads_of_buffers_straight_into_lds(piece: str) -> None:
    first = np.random.default_rng(5).integers(16, MEMORY_BYTES - 4, (STATES, 64))
    check_into_lds(f"buffer_load_{piece}", "buffer", "v2, s[8:11], 0 offen offset:16 lds", first, 4)
