"""Loads and stores of buffers whose elements have a format, against NumPy's conversions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from sandbox.machine.instruction_decoder import decode_instruction
from sandbox.machine.instruction_set import instruction_table
from tests.support.memory_oracle import Array
from tests.support.register_steps import BUFFER, MEMORY_BYTES, Registers, Stepped, expanded, step

STATES, LONG_STATES = 4, 140  # of 64 lanes and 112 formats: a million accesses in the long tests
DATA = {
    **{"8": [8], "16": [16], "8_8": [8, 8], "32": [32], "16_16": [16, 16], "10_11_11": [11, 11, 10]},
    **{"11_11_10": [10, 11, 11], "10_10_10_2": [2, 10, 10, 10], "2_10_10_10": [10, 10, 10, 2], "8_8_8_8": [8] * 4},
    **{"32_32": [32, 32], "16_16_16_16": [16] * 4, "32_32_32": [32] * 3, "32_32_32_32": [32] * 4},
}
NUMBERS = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"]
INTEGERS, WHOLE = ("UINT", "SINT"), ("UNORM", "SNORM", "UINT", "SINT", "FLOAT")


@dataclass(frozen=True)
class Format:
    data: str
    number: str

    @property
    def bits(self) -> list[int]:
        return DATA[self.data]

    @property
    def size(self) -> int:
        return sum(self.bits) // 8

    @property
    def code(self) -> tuple[int, int]:
        return list(DATA).index(self.data) + 1, NUMBERS.index(self.number)

    def exists(self, is_store: bool) -> bool:
        packed = self.data in ("10_11_11", "11_11_10")
        if self.number == "FLOAT":
            return set(self.bits) <= {16, 32} or (packed and not is_store)
        if self.number == "RESERVED_6" or (is_store and self.number not in WHOLE):
            return False
        return 32 not in self.bits or self.number in INTEGERS


FORMATS = [Format(data, number) for data in DATA for number in NUMBERS]


def component(raw: Array, bits: int, number: str) -> Array:
    """Values as float32, or as integers, of raw components."""
    unsigned = raw.astype(np.int64)
    signed = unsigned - ((unsigned >> bits - 1 & 1) << bits)
    if number == "FLOAT":
        if bits == 32:
            return raw.astype(np.uint32).view(np.float32)
        return (raw << (0 if bits == 16 else 15 - bits)).astype(np.uint16).view(np.float16).astype(np.float32)
    values: dict[str, Array] = {
        "UNORM": unsigned.astype(np.float32) / np.float32(2**bits - 1),
        "SNORM": np.maximum(signed.astype(np.float32) / np.float32(max(1, 2 ** (bits - 1) - 1)), np.float32(-1)),
        "USCALED": unsigned.astype(np.float32),
        "SSCALED": signed.astype(np.float32),
        "UINT": unsigned,
        "SINT": signed,
    }
    return values[number]


def in_register(value: Array, is_half: bool) -> Array:
    if value.dtype == np.float32:
        with np.errstate(over="ignore"):
            return value.astype(np.float16).view(np.uint16).astype(np.uint32) if is_half else value.view(np.uint32)
    return (value & (0xFFFF if is_half else 0xFFFFFFFF)).astype(np.uint32)


def split(element: Array, bits: list[int]) -> list[Array]:
    """Raw components of elements, (n, 16) bytes."""
    low, high = (np.ascontiguousarray(element[:, i : i + 8]).view("<u8")[:, 0] for i in (0, 8))
    parts, first = [], 0
    for width in bits:
        word = low >> np.uint64(first) if first < 64 else high >> np.uint64(first - 64)
        parts.append(word & np.uint64((1 << width) - 1))
        first += width
    return parts


def start(states: int, format_: Format, select: int, seed: int) -> tuple[Registers, Array, Array]:
    """Registers, memory and the places of the lanes: elements of 16 bytes, the last eight lanes out of range."""
    rng = np.random.default_rng(seed)
    memory = rng.integers(0, 256, (states, MEMORY_BYTES), np.uint8)
    memory[::3] = np.where(rng.random((len(memory[::3]), MEMORY_BYTES)) < 0.5, 0, 255)
    index = rng.permuted(np.tile(np.arange(64), (states, 1)), axis=1)
    data, number = format_.code
    words = {8: BUFFER & 0xFFFFFFFF, 9: BUFFER >> 32 | 16 << 16, 10: 56, 11: select | number << 12 | data << 15}
    scalars = {i: np.full(states, x, np.uint32) for i, x in words.items()}
    values = rng.integers(0, 1 << 32, (4, states, 64), np.uint64).astype(np.uint32)
    floats = (rng.standard_normal((4, states, 64)) * 2).astype(np.float32).view(np.uint32)
    values = np.where(rng.random(values.shape) < 0.7, floats, values)
    vectors = {2: index.astype(np.uint32)} | {16 + i: values[i] for i in range(4)}
    return Registers(vectors, scalars, memory={"buffer": memory}), memory, index


def text_of(name: str, format_: Format) -> str:
    row = instruction_table()[name]
    dwords = next(s.type.dwords for s in row.operands if s.role in ("d0", "s1"))
    first = "v16" if dwords == 1 else f"v[16:{15 + dwords}]"
    format_text = f" format:[BUF_DATA_FORMAT_{format_.data},BUF_NUM_FORMAT_{format_.number}]"
    return f"{name} {first}, v2, s[8:11], 0{format_text if name.startswith('t') else ''} idxen\ns_waitcnt vmcnt(0)"


def run(name: str, format_: Format, before: Registers) -> Stepped:
    return step(text_of(name, format_), before, range(16, 20))


def same(actual: Array, expected: Array, is_float: bool, is_half: bool) -> bool:
    """Bit by bit, but for NaN."""
    kind = np.float16 if is_half else np.float32
    a, b = (x.astype(np.uint16 if is_half else np.uint32).view(kind) for x in (actual, expected))
    return bool(((actual == expected) | (np.isnan(a) & np.isnan(b))).all() if is_float else (actual == expected).all())


def registers_of(after: Stepped, count: int, is_half: bool, is_high: bool) -> list[Array]:
    if not is_half:
        return [after.vectors[16 + i] for i in range(count)]
    return [after.vectors[16 + i // 2] >> 16 * (i % 2 or is_high) & 0xFFFF for i in range(count)]


def check_load(name: str, format_: Format, states: int, select: int, seed: int) -> None:
    is_half, is_high = "d16" in name, "d16_hi" in name
    count = instruction_table()[name].memory_bytes // (2 if is_half else 4)
    before, memory, index = start(states, format_, select, seed)
    after = run(name, format_, before)
    assert after.reports.all() != format_.exists(is_store=False), (name, format_)
    if after.reports.any():
        return
    rows = np.arange(states)[:, None, None]
    elements = memory[rows, index[..., None] * 16 + np.arange(16)].reshape(-1, 16)
    raw = split(elements, format_.bits)
    is_float = format_.number not in INTEGERS
    ones = in_register(np.full(len(elements), 1, np.float32 if is_float else np.int64), is_half)
    for i, actual in enumerate(registers_of(after, count, is_half, is_high)):
        chosen = (select >> 3 * i & 7) if name.startswith("b") else 4 + i
        if chosen >= 4 and chosen - 4 < len(raw):
            expected = in_register(component(raw[chosen - 4], format_.bits[chosen - 4], format_.number), is_half)
        else:
            expected = ones if chosen in (1, 7) else np.zeros_like(ones)
        expected = np.where(index.ravel() < 56, expected, 0)
        assert same(actual.ravel(), expected, is_float and chosen != 1, is_half), (name, format_, i)
        assert (expanded(after.vectors_defined[16]) == 0xFFFFFFFF).all()


def raw_of(value: Array, bits: int, number: str, is_half: bool) -> Array:
    """What a store puts in a component of `bits` bits."""
    half_bits, most = value.astype(np.uint16), (1 << bits) - 1
    if number == "UINT":
        return np.minimum(value.astype(np.int64), most)
    if number == "SINT":
        value_bits = half_bits.view(np.int16) if is_half else value.view(np.int32)
        return np.clip(value_bits.astype(np.int64), -(1 << bits - 1), (1 << bits - 1) - 1) & most
    with np.errstate(over="ignore", invalid="ignore"):
        real = half_bits.view(np.float16).astype(np.float32) if is_half else value.view(np.float32)
        if number == "FLOAT":
            return (real.astype(np.float16).view(np.uint16) if bits == 16 else real.view(np.uint32)).astype(np.int64)
        low, scale = (-1, most >> 1) if number == "SNORM" else (0, most)
        scaled = np.rint(np.nan_to_num(np.clip(real, low, 1)) * np.float32(scale))
        return np.asarray(scaled.astype(np.int64) & most)


def check_store(name: str, format_: Format, states: int, seed: int) -> None:
    is_half = "d16" in name
    count = instruction_table()[name].memory_bytes // (2 if is_half else 4)
    before, memory, index = start(states, format_, 0o7654, seed)
    after = run(name, format_, before)
    is_good = format_.exists(is_store=True) and len(format_.bits) <= count
    assert after.reports.all() != is_good, (name, format_)
    if not is_good:
        return
    byte_offsets, first = index[..., None] * 16 + np.arange(16), 0
    rows = np.arange(states)[:, None, None]
    packed = [np.zeros(states * 64, np.uint64), np.zeros(states * 64, np.uint64)]
    for i, bits in enumerate(format_.bits):
        value = before.vectors[16 + i // 2] >> 16 * (i % 2) & 0xFFFF if is_half else before.vectors[16 + i]
        value = before.vectors[16] >> 16 if "d16_hi" in name else value
        raw = raw_of(np.ascontiguousarray(value.ravel()).astype(np.uint32), bits, format_.number, is_half)
        packed[first // 64] = packed[first // 64] | raw.astype(np.uint64) << np.uint64(first % 64)
        first += bits
    words = np.stack(packed, axis=1)
    new = np.ascontiguousarray(words).view(np.uint8).reshape(states, 64, 16)
    keep = (index[..., None] >= 56) | (np.arange(16) >= format_.size)
    expected = memory.copy()
    expected[rows, byte_offsets] = np.where(keep, expected[rows, byte_offsets], new)
    actual, expected_memory = after.memory["buffer"], expected
    if format_.number == "FLOAT":  # the bits of NaN
        kind = np.uint16 if set(format_.bits) == {16} else np.uint32
        nan = np.isnan(expected_memory.view({2: np.float16, 4: np.float32}[kind().itemsize])) & np.isnan(
            actual.view({2: np.float16, 4: np.float32}[kind().itemsize])
        )
        assert ((actual.view(kind) == expected_memory.view(kind)) | nan).all(), (name, format_)
        return
    assert (actual == expected_memory).all(), (name, format_)


LOADS = [n for n in instruction_table() if "buffer_load_format" in n]
STORES = [n for n in instruction_table() if "buffer_store_format" in n]


@pytest.mark.parametrize("name", LOADS)
@pytest.mark.parametrize("states", [STATES, pytest.param(LONG_STATES, marks=pytest.mark.long)])
def test_loads_with_a_format(name: str, states: int) -> None:
    for seed, format_ in enumerate(FORMATS if states > STATES else FORMATS[len(name) % 5 :: 5]):
        check_load(name, format_, states, (0o7654, 0o1504)[seed % 2], seed)


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("states", [STATES, pytest.param(LONG_STATES, marks=pytest.mark.long)])
def test_stores_with_a_format(name: str, states: int) -> None:
    for seed, format_ in enumerate(FORMATS if states > STATES else FORMATS[len(name) % 5 :: 5]):
        check_store(name, format_, states, seed)


def test_every_code_of_a_format_may_be_written_in_four_ways() -> None:
    head = "tbuffer_load_format_x v1, v2, s[4:7], "
    texts = ["0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] idxen", "0 format:116 idxen"]
    texts += ["0 format:[BUF_NUM_FORMAT_FLOAT,BUF_DATA_FORMAT_32] idxen", "dfmt:4, nfmt:7, 0 idxen"]
    assert len({decode_instruction(head + text).body for text in texts}) == 1
