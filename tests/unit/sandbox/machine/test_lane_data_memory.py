"""Loads, stores and atomic operations of vectors against NumPy, on random memory, addresses, data and EXEC."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from sandbox.machine.image_layout import LDS_BASE, PRIVATE_BASE
from sandbox.machine.instruction_set import instruction_table
from tests.support.memory_oracle import Array, Atomic, Move, atomic, move
from tests.support.register_steps import BUFFER, EXEC, MEMORY_BYTES, Registers, expanded, step

SPACES, SPACE_OF = ("buffer", "lds", "scratch"), {"lds": (1,), "scratch": (2,), "flat": (0, 1, 2), "vmem": (0,)}
STATES, LONG_STATES, CHUNK = 12, 15_625, 3_125  # of 64 lanes: a million accesses in the long tests
SCRATCH = MEMORY_BYTES // 64
ROWS = {
    name: row for name, row in instruction_table().items() if row.group in SPACE_OF and (move(name) or atomic(name))
}
FAMILIES: dict[str, list[str]] = {}
for name_ in ROWS:
    FAMILIES.setdefault(name_.partition("_")[0] + (" atomics" if atomic(name_) else ""), []).append(name_)


@dataclass(frozen=True)
class Case:
    """Random states for one instruction: memory of its spaces in a row, and each lane's place in it."""

    rng: np.random.Generator
    memory: Array  # (states, spaces * MEMORY_BYTES)
    defined: Array  # the same, 1 where it is defined
    offsets: Array  # (states, 64)
    reach: Array  # (states, 64): bytes from there to the end of the buffer's range
    data: Array  # (states, 64, 8) of uint32: v8 to v15
    old: Array  # (states, 64, 4): v16 to v19
    lanes: Array  # (states, 64) of bool: EXEC


@dataclass(frozen=True)
class Address:
    """Operands that lead to the places: the vector one, those behind the data, modifiers; registers that they are."""

    vector: str
    behind: str
    modifiers: str
    vectors: dict[int, Array]
    scalars: dict[int, Array]


def words(rng: np.random.Generator, shape: tuple[int, ...], is_float: bool, size: int) -> Array:
    """Words of any bits, or of floats without NaN, many alike so that comparisons meet."""
    if not is_float:
        few = rng.integers(0, 4, shape, np.uint32)
        return np.where(rng.random(shape) < 0.3, few, rng.integers(0, 1 << 32, shape, np.uint64).astype(np.uint32))
    values = np.round(rng.standard_normal((*shape[:-1], shape[-1] * 4 // size)) * 4, int(rng.integers(0, 3))) + 0.0
    return np.where(rng.random(values.shape) < 0.05, np.inf, values).astype(f"<f{size}").view("<u4")


def case_of(name: str, seed: int, states: int) -> Case:
    rng, row = np.random.default_rng(seed), ROWS[name]
    operation = atomic(name)
    size = row.memory_bytes
    aligned = size if operation else rng.choice([1, min(size, 4)])
    is_packed = "pk_add" in name
    is_float = bool(operation and operation.is_float) or is_packed
    kind = 2 if is_packed else size
    spaces = SPACE_OF[row.group]
    memory = words(rng, (states, len(spaces) * MEMORY_BYTES // 4), is_float, kind).view(np.uint8)
    defined = np.ones_like(memory)
    if not operation:
        defined = (rng.random(memory.shape) < rng.choice([0.97, 1.0], (states, 1))).astype(np.uint8)
    space = rng.choice(spaces, (states, 64))
    wide = np.where(rng.random((states, 1)) < 0.7, MEMORY_BYTES, 256)  # few places: many lanes at one
    inside = rng.integers(0, (wide - size) // aligned + 1, (states, 64)) * aligned
    private = rng.integers(0, (SCRATCH - size) // aligned + 1, (states, 64)) * aligned + np.arange(64) * SCRATCH
    if (access := move(name)) and not access.is_load:  # lanes that store to one place are a race
        inside = private[:, rng.permutation(64)]
    offsets = np.where(space == 2, private, inside) + (space - spaces[0]) * MEMORY_BYTES
    lanes = rng.random((states, 64)) < rng.choice([0.4, 1.0], (states, 1))
    data = words(rng, (states, 64, 8), is_float, kind)
    old = rng.integers(0, 1 << 32, (states, 64, 4), np.uint64).astype(np.uint32)
    return Case(rng, memory, defined, offsets, np.full(offsets.shape, 64), data, old, lanes)


def address_of(name: str, case: Case) -> Address:
    group, rng, states = ROWS[name].group, case.rng, len(case.memory)
    space, low = case.offsets // MEMORY_BYTES + SPACE_OF[group][0], case.offsets % MEMORY_BYTES
    if group == "lds":
        offset = int(rng.integers(0, 1 << 16))
        return Address("v2", "", f" offset:{offset}", {2: low - offset}, {})
    inside = np.where(space == 2, low % SCRATCH, low)
    if group == "scratch":
        base = rng.integers(0, 50, states)
        return Address("v2", ", s4", " offset:-100", {2: inside + 100 - base[:, None]}, {4: base})
    # Of generic addresses the aperture is told before the offset is added.
    offset = int(rng.integers(0, inside.min() + 1) if group == "flat" else rng.integers(-4096, 4096))
    if group == "flat" or rng.random() < 0.5:
        addresses = np.array([BUFFER, LDS_BASE, PRIVATE_BASE], np.int64)[space] + inside - offset
        behind = "" if group == "flat" else ", off"
        return Address("v[2:3]", behind, f" offset:{offset}", {2: addresses, 3: addresses >> 32}, {})
    more = rng.integers(0, 1 << 20, states)
    base = BUFFER - offset - more
    return Address("v2", ", s[4:5]", f" offset:{offset}", {2: low + more[:, None]}, {4: base, 5: base >> 32})


def buffer_address(case: Case) -> tuple[Address, Case]:
    """A raw buffer that ends before some of the lanes' places, or records of 64 bytes of which the last ones miss."""
    rng, states, low = case.rng, len(case.memory), case.offsets
    offset, scalar = int(rng.integers(0, 32)), rng.integers(0, 16, states)
    if rng.random() < 0.5:
        base, end = np.full(states, BUFFER - 48), rng.integers(200, MEMORY_BYTES, states)
        vectors, records, stride, flags = {2: low + 48 - offset - scalar[:, None]}, end + 48, 0, "offen"
        reach = end[:, None] - low
        wide = "v2"
    else:
        base, records, stride, flags = BUFFER - scalar, rng.integers(3, 64, states), 64, "idxen offen"
        reach = np.where(low // 64 < records[:, None], 64 - low % 64, 0)
        vectors = {2: low // 64, 3: low % 64 - offset}
        wide = "v[2:3]"
        if offset and (low % 64 < offset).any():  # the sum of the offsets has no sign
            offset, vectors = 0, {2: low // 64, 3: low % 64}
    full = np.zeros(states, np.int64)
    scalars = {6: scalar, 8: base, 9: (base >> 32) | stride << 16, 10: records + full, 11: full + 0x27000}
    address = Address(wide, ", s[8:11], s6", f" {flags} offset:{offset}", vectors, scalars)
    return address, Case(rng, case.memory, case.defined, low, reach, case.data, case.old, case.lanes)


def register(first: int, count: int) -> str:
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def execute(name: str, case: Case, address: Address, returns: bool) -> tuple[Array, Array, Array, Array]:
    """Result registers (states, 64, 4), their defined bits, memory and what of it is defined, after the instruction."""
    row = ROWS[name]
    dwords = {
        s.role: s.type.dwords for s in row.operands if s.is_result or (s.is_source and set(s.files) == {"v", "a"})
    }
    is_buffer = name.startswith("buffer")
    sources = [register(8 + 4 * i, dwords[f"s{i + 1}"]) for i in range(2) if f"s{i + 1}" in dwords]
    result = [register(16, dwords["d0"])] if "d0" in dwords and (returns or row.group == "lds" or not sources) else []
    words_ = [*sources[:1], address.vector] if is_buffer and sources else [*result, address.vector, *sources]
    scope = " sc0" if returns and row.group != "lds" else ""
    text = f"{name} {', '.join(words_)}{address.behind}{address.modifiers}{scope}\ns_waitcnt vmcnt(0) lgkmcnt(0)"
    exec_ = np.packbits(case.lanes, axis=1, bitorder="little").view("<u4")
    vectors = {8 + i: case.data[..., i] for i in range(8)} | {16 + i: case.old[..., i] for i in range(4)}
    vectors |= {i: x.astype(np.int64).astype(np.uint32) for i, x in address.vectors.items()}
    scalars = {EXEC: exec_[:, 0], EXEC + 1: exec_[:, 1]}
    scalars |= {i: x.astype(np.int64).astype(np.uint32) for i, x in address.scalars.items()}
    spaces = [SPACES[space] for space in SPACE_OF[row.group]]
    memory, defined_after = (
        dict(zip(spaces, np.split(x, len(spaces), axis=1), strict=True)) for x in (case.memory, case.defined)
    )
    first = 8 if is_buffer and sources else 16
    after = step(text, Registers(vectors, scalars, {}, {}, memory, defined_after), range(first, first + 4))
    assert not after.reports.any(), text
    actual = np.stack([after.vectors[first + i] for i in range(4)], axis=-1)
    defined = np.stack([expanded(after.vectors_defined[first + i]) for i in range(4)], axis=-1)
    parts = [np.concatenate([x[space] for space in spaces], axis=1) for x in (after.memory, after.memory_defined)]
    return actual, defined, parts[0], parts[1]


def inside(case: Case, size: int) -> Array:
    """Which bytes of each lane's access are within the buffer's range, a word at a time: (states, 64, size)."""
    first = np.arange(size) // 4 * 4
    return first + min(4, size) <= case.reach[..., None]


def check_move(name: str, access: Move, case: Case, address: Address) -> None:
    actual, defined, memory, defined_after = execute(name, case, address, False)
    count, size = len(case.memory), access.size
    rows = np.arange(count)[:, None, None]
    bytes_moved = case.offsets[..., None] + np.arange(size)
    is_inside = inside(case, size)
    if not access.is_load:
        expected = case.memory.copy()
        marks = case.defined.copy()
        raw = access.stored(case.data.reshape(count * 64, 8)).reshape(count, 64, size)
        for lane in range(64):
            is_moved = case.lanes[:, lane, None] & is_inside[:, lane]
            rows_and_bytes = (rows[:, 0], bytes_moved[:, lane])
            expected[rows_and_bytes] = np.where(is_moved, raw[:, lane], expected[rows_and_bytes])
            marks[rows_and_bytes] |= is_moved.astype(np.uint8)
        assert (memory == expected).all() and (defined_after == marks).all()
        return
    raw = np.where(is_inside, case.memory[rows, bytes_moved], 0).astype(np.uint8)
    marked = np.where(is_inside, case.defined[rows, bytes_moved] * 255, 255).astype(np.uint8)
    old = case.old[..., 0].reshape(-1)
    loaded = access.loaded(raw.reshape(-1, size), old).reshape(count, 64, -1)
    bits = access.loaded(marked.reshape(-1, size), np.full_like(old, 0xFFFFFFFF)).reshape(count, 64, -1)
    if size < 4 and not access.is_signed:
        bits = bits | np.uint32(0xFF00 if size == 1 and access.half == "_d16" else 0)
        bits = bits | np.uint32(0xFF000000 if size == 1 and access.half == "_d16_hi" else 0)
        bits = bits | np.uint32(0 if access.half else 0xFFFFFFFF << 8 * size & 0xFFFFFFFF)
    lanes, width = case.lanes[..., None], loaded.shape[-1]
    assert (actual[..., :width] == np.where(lanes, loaded, case.old[..., :width])).all()
    assert (defined[..., :width] == np.where(lanes, bits, np.uint32(0xFFFFFFFF))).all()
    assert (memory == case.memory).all()


def same(a: Array, b: Array) -> bool:
    return bool((a == b).all()) if a.dtype.kind != "f" else bool(((a == b) | (np.isnan(a) & np.isnan(b))).all())


def check_atomic(name: str, operation: Atomic, case: Case, address: Address, returns: bool) -> None:
    actual, _, memory, _ = execute(name, case, address, returns)
    count, size = len(case.memory), operation.type.itemsize
    width, row = size // 4, ROWS[name]
    view = case.memory.view(operation.type).copy()
    first, second = (8 if row.group == "lds" else 8 + width) - 8, 4
    operands = [
        np.ascontiguousarray(case.data[..., i : i + width]).view(operation.type)[..., 0]
        for i in (0, second if row.group == "lds" else first)
    ]
    before = np.zeros((count, 64), operation.type)
    rows, is_inside = np.arange(count), np.asarray(inside(case, size).all(axis=-1))
    with np.errstate(over="ignore", invalid="ignore"):
        for lane in range(64):
            words = np.where(is_inside[:, lane], case.offsets[:, lane] // size, 0)
            now = view[rows, words]
            is_moved = case.lanes[:, lane] & is_inside[:, lane]
            before[:, lane] = np.where(is_inside[:, lane], now, 0)
            new = operation.change(now, operands[0][:, lane], operands[1][:, lane]).astype(operation.type)
            view[rows, words] = np.where(is_moved, new, now)
    assert same(memory.view(operation.type), view), name
    if returns:
        old = case.data if name.startswith("buffer") else case.old
        old_values = np.ascontiguousarray(old[..., :width]).view(operation.type)[..., 0]
        result = np.ascontiguousarray(actual[..., :width]).view(operation.type)[..., 0]
        assert same(result[case.lanes], before[case.lanes]), name
        assert result[~case.lanes].tobytes() == old_values[~case.lanes].tobytes(), name


def check(name: str, states: int, seed: int) -> None:
    operation, access = atomic(name), move(name)
    for turn in (0, 1):
        case = case_of(name, 2 * seed + turn, states)
        address, case = buffer_address(case) if name.startswith("buffer") else (address_of(name, case), case)
        returns = "_rtn" in name if ROWS[name].group == "lds" else turn == 1
        if operation:
            check_atomic(name, operation, case, address, returns)
        elif access:
            check_move(name, access, case, address)


@pytest.mark.parametrize("family", FAMILIES)
def test_memory_instructions(family: str) -> None:
    for seed, name in enumerate(FAMILIES[family]):
        check(name, STATES, seed)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_memory_instructions_on_a_million_accesses(family: str) -> None:
    for seed, name in enumerate(FAMILIES[family]):
        for part in range(LONG_STATES // CHUNK):
            check(name, CHUNK // 2 + 1, 1000 * (part + 1) + seed)
