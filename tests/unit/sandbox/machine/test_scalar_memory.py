"""Scalar loads, stores and atomic operations against NumPy, by base and by descriptor, with every kind of offset."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sandbox.machine.instruction_set import instruction_table
from tests.support.memory_oracle import Array, atomic, move
from tests.support.register_steps import BUFFER, MEMORY_BYTES, Registers, step

STATES, LONG_STATES, CHUNK = 200, 20_000, 5_000  # a state has one operand, and memory of its own
BASE, DATA, OFFSET = 4, 16, 40
ROWS = [n for n, row in instruction_table().items() if row.group == "smem" and (move(n) or atomic(n))]
FAMILIES: dict[str, list[str]] = {}
for name_ in ROWS:
    kind = "atomics" if atomic(name_) else "stores" if "store" in name_ else "loads"
    FAMILIES.setdefault(f"{'s_buffer' if name_.startswith('s_buffer') else 's'} {kind}", []).append(name_)


def address_of(name: str, offsets: Array, rng: np.random.Generator) -> tuple[str, dict[int, Array], Array]:
    """Operands behind the data, their registers, and how many bytes are inside of the buffer from each place on."""
    count = len(offsets)
    shift = 6 if name.startswith("s_scratch") else 0
    form = int(rng.integers(0, 3))
    immediate = int(rng.integers(0, 1 << 12)) if form != 1 else 0
    register = rng.integers(0, 1 << 8, count) if form else np.zeros(count, np.int64)
    text = {0: f"{immediate:#x}", 1: f"s{OFFSET}", 2: f"s{OFFSET} offset:{immediate:#x}"}[form]
    base = BUFFER + offsets - immediate - (register << shift)
    scalars = {BASE: base, BASE + 1: base >> 32, OFFSET: register}
    if not name.startswith("s_buffer"):
        return f"s[{BASE}:{BASE + 1}], {text}", scalars, np.full(count, 64)
    inside = immediate + register
    stride = rng.choice([0, 4], count)
    records = rng.integers(0, 1 << 11, count) * np.where(stride, 1, 4)
    scalars |= {BASE + 1: (base >> 32) | stride << 16, BASE + 2: records, BASE + 3: np.full(count, 0x27000)}
    return f"s[{BASE}:{BASE + 3}], {text}", scalars, records * np.maximum(stride, 1) - inside


def check(name: str, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    operation, access = atomic(name), move(name)
    size = operation.type.itemsize if operation else access.size if access else 0
    memory = rng.integers(0, 256, (count, MEMORY_BYTES), np.uint8)
    memory[rng.random(count) < 0.3] &= 1
    offsets = rng.integers(0, (MEMORY_BYTES - 64) // size, count) * (size if operation else 4)
    tail, scalars, reach = address_of(name, offsets, rng)
    data = rng.integers(0, 1 << 32, (count, 16), np.uint64).astype(np.uint32)
    data[rng.random(count) < 0.5] &= 3
    dwords = next(s.type.dwords for s in instruction_table()[name].operands if s.role in ("d0", "s2"))
    first = f"s{DATA}" if dwords == 1 else f"s[{DATA}:{DATA + dwords - 1}]"
    returns = bool(operation) and seed % 2 == 1
    ending = "s_dcache_wb\n" if access and not access.is_load else ""
    text = f"{name} {first}, {tail}{' glc' if returns else ''}\n{ending}s_waitcnt lgkmcnt(0)"
    scalars |= {DATA + i: data[:, i] for i in range(16)}
    before = Registers(
        {}, {i: x.astype(np.int64).astype(np.uint32) for i, x in scalars.items()}, memory={"buffer": memory}
    )
    after = step(text, before, [], range(DATA, DATA + 16))
    assert not after.reports.any(), text
    actual = np.stack([after.scalars[DATA + i] for i in range(16)], axis=1)
    byte_offsets, rows = offsets[:, None] + np.arange(size), np.arange(count)[:, None]
    words_in = (np.arange(size) // 4 * 4 + (size if operation else 4) <= reach[:, None]) | (reach[:, None] >= size)
    expected, registers = memory.copy(), data.copy()
    if access and access.is_load:
        raw = np.where(words_in, memory[rows, byte_offsets], 0).astype(np.uint8)
        registers[:, :dwords] = raw.view("<u4")
    elif access:
        expected[rows, byte_offsets] = np.where(words_in, data.view(np.uint8)[:, :size], memory[rows, byte_offsets])
    elif operation:
        width = size // 4
        old = np.ascontiguousarray(memory[rows, byte_offsets]).view(operation.type)[:, 0]
        value, second = (np.ascontiguousarray(data[:, i : i + width]).view(operation.type)[:, 0] for i in (0, width))
        new = operation.change(old, value, second).astype(operation.type)
        expected[rows, byte_offsets] = np.where(words_in, new[:, None].view(np.uint8), memory[rows, byte_offsets])
        if returns:
            registers[:, :width] = np.where(words_in, memory[rows, byte_offsets], 0).astype(np.uint8).view("<u4")
    assert (after.memory["buffer"] == expected).all(), text
    assert (actual == registers).all(), text


@pytest.mark.parametrize("family", FAMILIES)
def test_scalar_memory_instructions(family: str) -> None:
    for seed, name in enumerate(FAMILIES[family]):
        check(name, STATES, 2 * seed)
        check(name, STATES, 2 * seed + 1)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_scalar_memory_instructions_on_many_operands(family: str) -> None:
    for name in FAMILIES[family]:
        for seed in range(LONG_STATES // CHUNK):
            check(name, CHUNK, 1000 + seed)


def test_a_scalar_store_that_is_not_written_back_is_lost() -> None:
    zeros = np.zeros((1, MEMORY_BYTES), np.uint8)
    before = Registers(
        {}, {4: np.zeros(1, np.uint32), 5: np.full(1, BUFFER >> 32, np.uint32)}, memory={"buffer": zeros}
    )
    text = "s_mov_b32 s8, 7\ns_store_dword s8, s[4:5], 0\n{}s_waitcnt lgkmcnt(0)\ns_endpgm"
    assert not step(text.format("s_dcache_wb\n"), before).reports.any()
    assert step(text.format(""), before).reports.all()


def test_an_undefined_value_or_address_is_reported() -> None:
    zeros = np.zeros((1, MEMORY_BYTES), np.uint8)
    scalars = {4: np.zeros(1, np.uint32), 5: np.full(1, BUFFER >> 32, np.uint32), 8: np.zeros(1, np.uint32)}
    for undefined in (4, 8):
        before = Registers({}, scalars, {}, {undefined: np.zeros(1, np.uint32)}, {"buffer": zeros})
        assert step("s_store_dword s8, s[4:5], 0\ns_dcache_wb", before).reports.all()


@pytest.mark.parametrize("name", ["s_store_dword s8", "s_load_dword s8", "s_atomic_add s8"])
def test_what_is_outside_is_reported(name: str) -> None:
    scalars = {
        4: np.full(1, MEMORY_BYTES, np.uint32),
        5: np.full(1, BUFFER >> 32, np.uint32),
        8: np.zeros(1, np.uint32),
    }
    before = Registers({}, scalars, memory={"buffer": np.zeros((1, MEMORY_BYTES), np.uint8)})
    assert step(re.sub("$", ", s[4:5], 0", name), before).reports.all()
