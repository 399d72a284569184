"""What is defined of a matrix instruction's result: that which hangs on defined bytes alone, element by element."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.matrix_layouts import names, oracle, positions
from tests.support.matrix_steps import A_AT, ALL, B_AT, C_AT, D_AT, INDEX_AT, WINDOW, Registers, Step, dwords, run

NAMES = names("mfma") + names("smfmac")
Bools = npt.NDArray[np.bool_]
ROUNDS = 8


def undefined(rng: np.random.Generator, registers: Registers, register: int, count: int, bytes_each: float) -> None:
    """Make some bytes of these registers undefined."""
    holes = rng.random((count, 4, 64)) < bytes_each / (count * 256)
    masks = (holes.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)
    registers.defined[register : register + count] &= ~masks


def drawn(name: str, number: int) -> Registers:
    """Random small numbers with holes in one to three of the operands."""
    rng = np.random.default_rng([NAMES.index(name), number])
    registers = Registers()
    a, b, d = dwords(name)
    registers.values[:] = rng.integers(0, 1 << 32, registers.values.shape, np.uint32)
    operands = [(A_AT, a), (B_AT, b), (C_AT, d), (INDEX_AT, 1)]
    for bit, (register, count) in enumerate(operands):
        if number % 8 + 1 >> bit & 1:
            undefined(rng, registers, register, count, 3)
    return registers


def lanes_of(masks: npt.NDArray[np.uint64]) -> Bools:
    """[..., 64] from masks of lanes."""
    return np.asarray((masks[..., None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).astype(bool))


def by_slot(name: str, matrix: str, defined: npt.NDArray[np.uint64]) -> Bools:
    """Which slots of each lane are defined: [64, slots], from the masks of all bytes [dwords, 4]."""
    slots = positions(name, matrix).shape[1]
    by_lane = np.moveaxis(lanes_of(defined), 2, 0).reshape(64, -1)  # [lane, byte]
    return np.asarray(by_lane.reshape(64, slots, -1).all(axis=2))


def elements(name: str, matrix: str, register: int, count: int, registers: Registers, shape: tuple[int, ...]) -> Bools:
    """Which elements are defined: [block, row, column]."""
    slots = positions(name, matrix)
    is_defined = np.zeros(shape, bool)
    is_defined[slots[..., 2], slots[..., 0], slots[..., 1]] = by_slot(
        name, matrix, registers.defined[register : register + count]
    )
    return is_defined


def expected(name: str, registers: Registers) -> Bools:
    """Which elements of D must be defined, and no others."""
    about, (a, b, d) = oracle()[name], dwords(name)
    m, k, blocks = about["m"], about["k"], about["blocks"]
    of_b = elements(name, "B", B_AT, b, registers, (blocks, k, m))
    of_c = elements(name, "D", C_AT, d, registers, (blocks, m, m))
    if "smfmac" not in name:
        of_a = elements(name, "A", A_AT, a, registers, (blocks, m, k))
        return np.asarray(of_a.all(axis=2)[:, :, None] & of_b.all(axis=1)[:, None, :] & of_c)
    slots, bits = positions(name, "index"), 4 * len(about["index"]["slots"])
    in_use = lanes_of(registers.defined[INDEX_AT])[: bits // 8].all(axis=0)  # set 0 is in the lowest bytes
    rows, uses = np.ones(m, bool), np.zeros((m, k), bool)
    a_slots = by_slot(name, "A", registers.defined[A_AT : A_AT + a])
    for lane in range(64):
        row = slots[lane, 0, 0]
        rows[row] &= in_use[lane] and a_slots[lane].all()
        for slot in range(slots.shape[1]):
            word = int(registers.values[INDEX_AT, lane]) >> 4 * slot
            uses[row, slots[lane, slot, 1] + np.array([word & 3, word >> 2 & 3])] = True
    columns = (of_b[0][None] | ~uses[:, :, None]).all(axis=1)
    return np.asarray(rows[:, None] & columns & of_c[0])[None]


def masks(name: str, expected: Bools) -> npt.NDArray[np.uint64]:
    """The masks of D's registers."""
    slots = positions(name, "D")
    lanes = expected[slots[..., 2], slots[..., 0], slots[..., 1]].astype(np.uint64)
    words = (lanes << np.arange(64, dtype=np.uint64)[:, None]).sum(axis=0, dtype=np.uint64)
    return np.repeat(words, 2 if "f64" in name else 1)


@functools.cache
def after(name: str) -> list[Registers]:
    return run([Step(name, drawn(name, number), d=where(name)) for number in range(ROUNDS)])


def where(name: str) -> int:
    return C_AT if "smfmac" in name else D_AT


@pytest.mark.parametrize("name", NAMES)
def test_an_element_is_defined_where_all_that_it_hangs_on_is(name: str) -> None:
    count, holes, defined_count = dwords(name)[2], 0, 0
    for number, registers in enumerate(after(name)):
        right = masks(name, expected(name, drawn(name, number)))
        register = where(name)
        for byte in range(4):
            assert np.array_equal(registers.defined[register : register + count, byte], right), (number, byte)
        holes += int((~lanes_of(right)).sum())
        defined_count += int(lanes_of(right).sum())
    assert holes > 0 and defined_count > 0


@pytest.mark.parametrize("name", NAMES)
def test_undefined_bytes_change_no_defined_element(name: str) -> None:
    for number, registers in enumerate(after(name)):
        other = drawn(name, number)
        holes = np.moveaxis(~lanes_of(other.defined), 1, 2)  # [register, lane, byte]
        noise = np.random.default_rng(number).integers(0, 256, holes.shape, np.uint8)
        raw = other.values.view(np.uint8).reshape(holes.shape)
        raw[holes] = noise[holes]
        (changed,) = run([Step(name, other, d=where(name))])
        is_defined = lanes_of(registers.defined[:, 0])
        registers_of_d = slice(where(name), where(name) + dwords(name)[2])
        same = _same(name, registers.values[registers_of_d], changed.values[registers_of_d])
        assert np.all(same | ~is_defined[registers_of_d]), number


def _same(name: str, first: npt.NDArray[np.uint32], other: npt.NDArray[np.uint32]) -> Bools:
    """Equal bits, or both NaN: its payload is nobody's business."""
    equal = first == other
    if "_f32_" in name:
        equal |= np.isnan(first.view(np.float32)) & np.isnan(other.view(np.float32))
    if "f64" in name:
        both_nan = np.isnan(_doubles(first)) & np.isnan(_doubles(other))
        equal |= np.repeat(both_nan, 2, axis=0)
    return np.asarray(equal)


def _doubles(values: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    wide = values[0::2].astype(np.uint64) | values[1::2].astype(np.uint64) << np.uint64(32)
    return wide.view(np.float64)


def test_the_origin_is_that_of_an_undefined_source() -> None:
    """Of A's or B's register where they have holes, of the index, or of C's own register."""
    origins = set()
    for name in NAMES:
        a, b, count = dwords(name)
        for number, registers in enumerate(after(name)):
            before, register = drawn(name, number), where(name)
            bad = [r for r in range(WINDOW) if (before.defined[r] != ALL).any()]
            for r in range(count):
                if (registers.defined[register + r] != ALL).any():
                    origin = int(registers.origin[register + r]) - 1000
                    assert origin in bad, (name, number, r)
                    assert origin < C_AT or abs(origin - C_AT - r) < 2
                    origins.add("A" if origin < a else "B" if B_AT <= origin < B_AT + b else origin >= C_AT)
    assert origins == {"A", "B", True, False}  # False: the index


def test_an_origin_that_nobody_knows_is_the_instruction() -> None:
    name = "v_mfma_f32_16x16x16_f16"
    registers = Registers()
    registers.defined[A_AT] = 0
    registers.origin[:] = 0xFFFFFFFF
    (after,) = run([Step(name, registers)])
    assert set(after.origin[C_AT : C_AT + 4].tolist()) == {7}
    assert not after.defined[C_AT : C_AT + 4].any()


def modified(name: str, change: Callable[[Registers], None], **modifiers: int) -> Registers:
    registers = Registers()
    change(registers)
    (after,) = run([Step(name, registers, **modifiers)])  # type: ignore[arg-type]
    return after


def test_what_a_modifier_leaves_out_need_not_be_defined() -> None:
    name = "v_mfma_f32_16x16x4_4b_f16"

    def hole(register: int, lanes: int) -> Callable[[Registers], None]:
        def change(registers: Registers) -> None:
            registers.defined[register, 1] = np.uint64(ALL ^ lanes)

        return change

    def is_all_defined(registers: Registers) -> bool:
        return bool((registers.defined[C_AT : C_AT + 16] == ALL).all())

    block_3, low = 0xFFFF << 48, (1 << 32) - 1
    assert not is_all_defined(modified(name, hole(A_AT, block_3)))
    assert is_all_defined(modified(name, hole(A_AT, block_3), cbsz=2, abid=1))
    assert not is_all_defined(modified(name, hole(A_AT, block_3), cbsz=2, abid=3))
    assert not is_all_defined(modified(name, hole(B_AT, low), blgp=1))
    assert is_all_defined(modified(name, hole(B_AT, low), blgp=2))


@pytest.mark.parametrize("width", [8, 16])
def test_only_the_set_in_use_of_an_index_must_be_defined(width: int) -> None:
    name = "v_smfmac_f32_16x16x32_f16" if width == 8 else "v_smfmac_i32_16x16x64_i8"
    for chosen in range(32 // width):
        for byte in range(4):

            def change(registers: Registers, byte: int = byte) -> None:
                registers.defined[INDEX_AT, byte] = 0

            after = modified(name, change, abid=chosen)
            assert bool(after.defined[C_AT : C_AT + 4].all()) == (byte * 8 // width != chosen)
