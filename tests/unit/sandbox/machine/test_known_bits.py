"""What an integer instruction calls defined does not depend on undefined bits: other values of them change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.machine.instruction_set import instruction_table
from tests.support.awkward_words import awkward_words
from tests.support.instruction_texts import InstructionText, instruction_text
from tests.support.register_steps import ALL_LANES, EXEC, SCC, VCC, WORD, Registers, expanded, step

STATES, WAYS = 12, 10
FLOATS = ("f16", "f32", "f64", "fp8", "bf8", "bf16", "ubyte", "cvt", "dot", "v_pk_")
ROWS = {
    row.name: text
    for row in instruction_table().values()
    if row.group in ("valu", "salu")
    and (row.name.startswith("v_cmp") or not any(word in row.name for word in FLOATS))
    and not row.name.startswith(("s_set_gpr", "s_setvskip", "s_getreg", "s_mov_rel", "s_movrel", "v_screen"))
    and (text := instruction_text(row))
}


def undefined_scalars(rng: np.random.Generator, count: int) -> np.ndarray:
    """Which bits are defined: all, all but one, those above or below a bit, or any."""
    single_bit = np.uint32(1) << rng.integers(0, 32, count).astype(np.uint32)
    any_ = rng.integers(0, 1 << 32, count, np.uint64).astype(np.uint32)
    return np.choose(
        rng.integers(0, 6, count),
        [
            np.full(count, WORD, np.uint32),
            ~single_bit,
            single_bit - np.uint32(1),
            ~(single_bit - np.uint32(1)),
            any_,
            any_ | ~single_bit,
        ],
    )


def start(text: InstructionText, seed: int) -> Registers:
    rng = np.random.default_rng(seed)
    count = len(text.vectors_read) + 1
    words = awkward_words(STATES * 64 * count, 1, seed)[0]
    rng.shuffle(words)
    vectors = dict(zip(text.vectors_read, words.reshape(count, STATES, 64), strict=False))
    is_whole = rng.random((count, STATES, 4, 64)) < rng.choice([0.5, 0.8, 1.0], (count, STATES, 4, 1))
    masks = (is_whole.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(axis=-1, dtype=np.uint64)
    scalars = {i: awkward_words(STATES, 1, seed + i)[0] for i in text.scalars_read}
    for values in scalars.values():
        rng.shuffle(values)
    defined = {i: undefined_scalars(rng, STATES) for i in text.scalars_read}
    if SCC in scalars:
        scalars[SCC] &= np.uint32(1)
        defined[SCC] = np.where(rng.random(STATES) < 0.5, np.uint32(WORD), np.uint32(0))
    for i in (EXEC, EXEC + 1):
        scalars[i] = rng.integers(0, 1 << 32, STATES, np.uint64).astype(np.uint32)
        defined[i] = np.full(STATES, WORD, np.uint32)
    return Registers(vectors, scalars, dict(zip(text.vectors_read, masks, strict=False)), defined)


def other_ways(before: Registers) -> Registers:
    """The same states WAYS times over, each time with other values for what is undefined."""
    rng = np.random.default_rng(4)
    vectors, scalars = {}, {}
    for i, values in before.vectors.items():
        noise = rng.integers(0, 1 << 32, (WAYS, *values.shape), np.uint64).astype(np.uint32)
        vectors[i] = (values ^ (noise & ~expanded(before.vectors_defined[i]))).reshape(-1, 64)
    for i, word in before.scalars.items():
        noise = rng.integers(0, 1 << 32, (WAYS, *word.shape), np.uint64).astype(np.uint32)
        noise[rng.random(noise.shape) < 0.3] = WORD
        scalars[i] = (word ^ (noise & ~before.scalars_defined[i] & np.uint32(1 if i == SCC else WORD))).ravel()
    return Registers(vectors, scalars)


def with_results(text: InstructionText, before: Registers) -> Registers:
    """Registers that are written are whole before."""
    count = len(before.scalars[EXEC])
    vectors = {i: np.zeros((count, 64), np.uint32) for i in text.vectors_written}
    scalars = {i: np.zeros(count, np.uint32) for i in text.scalars_written}
    return Registers(
        {**vectors, **before.vectors}, {**scalars, **before.scalars}, before.vectors_defined, before.scalars_defined
    )


def test_defined_bits_do_not_depend_on_undefined_ones() -> None:
    assert {name: where for name, text in ROWS.items() if (where := dependent_bits(name, text))} == {}


def dependent_bits(name: str, text: InstructionText) -> str:
    """The first place where a bit that is called defined changes with undefined ones; "" where there is none."""
    before = start(text, seed=len(name))
    registers_written = (text.vectors_written, text.scalars_written)
    after = step(text.text, with_results(text, before), *registers_written)
    other = step(text.text, with_results(text, other_ways(before)), *registers_written)
    for i in text.vectors_written:
        defined_bits = expanded(after.vectors_defined[i])
        changed = (other.vectors[i].reshape(WAYS, STATES, 64) ^ after.vectors[i]) & defined_bits
        if changed.any():
            return f"v{i} {np.argwhere(changed)[0]}"
    for i in text.scalars_written:
        changed = (other.scalars[i].reshape(WAYS, STATES) ^ after.scalars[i]) & after.scalars_defined[i]
        if (changed * ~after.reports).any():
            return f"s{i} {np.argwhere(changed)[0]}"
    return ""


def test_what_is_defined_makes_defined_results() -> None:
    assert [name for name, text in ROWS.items() if not makes_defined_results(name, text)] == []


def makes_defined_results(name: str, text: InstructionText) -> bool:
    before = start(text, seed=len(name))
    registers = with_results(text, Registers(before.vectors, before.scalars))
    after = step(text.text, registers, text.vectors_written, text.scalars_written)
    ties = name in ("s_max_i32", "s_max_u32")
    return (
        all((after.vectors_defined[i] == ALL_LANES).all() for i in text.vectors_written)
        and all((after.scalars_defined[i] == WORD).all() for i in text.scalars_written if not (ties and i == SCC))
        and not after.reports.any()
    )


def step_one_lane(text: str, values: list[int], defined: list[int]) -> tuple[int, int]:
    """v9, and which of its bytes are defined (as 255 each), of one lane like all others."""
    vectors = {i: np.full((1, 64), v, np.uint32) for i, v in enumerate(values)}
    masks = {
        i: np.array([[ALL_LANES * (d >> 8 * b & 255 == 255) for b in range(4)]], np.uint64)
        for i, d in enumerate(defined)
    }
    after = step(text, Registers(vectors, {}, masks), [9])
    return int(after.vectors[9][0, 5]), int(expanded(after.vectors_defined[9])[0, 5])


# Text, sources, what of them is defined, what of the result is.
PRECISE = [
    ("v_and_b32 v9, v0, v1", [0x12345678, 0x00FF00FF], [0, 0xFFFFFFFF], 0xFF00FF00),
    ("v_or_b32 v9, v0, v1", [0x12345678, 0x00FF00FF], [0, 0xFFFFFFFF], 0x00FF00FF),
    ("v_xor_b32 v9, v0, v1", [1, 2], [0xFF00FFFF, 0xFFFFFF00], 0xFF00FF00),
    ("v_lshlrev_b32 v9, 8, v0", [0x11223344], [0xFF0000FF], 0x0000FFFF),
    ("v_lshrrev_b32 v9, 24, v0", [0x11223344], [0xFF000000], 0xFFFFFFFF),
    ("v_lshrrev_b32 v9, 16, v0", [0x11223344], [0x00FF0000], 0xFFFF00FF),
    ("v_ashrrev_i32 v9, 16, v0", [0x11223344], [0xFF000000], 0xFFFFFF00),
    ("v_bfe_u32 v9, v0, 8, 8", [0x11223344], [0x0000FF00], 0xFFFFFFFF),
    ("v_bfe_i32 v9, v0, 0, 8", [0x11223344], [0x000000FF], 0xFFFFFFFF),
    ("v_bfi_b32 v9, 0xff, v0, v1", [1, 2], [0x000000FF, 0xFFFF0000], 0xFFFF00FF),
    ("v_perm_b32 v9, v0, v1, 0x0c0c0400", [1, 2], [0x000000FF, 0x000000FF], 0xFFFFFFFF),
    ("v_perm_b32 v9, v0, v1, 0x07030501", [1, 2], [0xFFFF00FF, 0xFFFFFF00], 0xFFFF00FF),
    ("v_and_or_b32 v9, v0, 0xff, v1", [1, 2], [0x000000FF, 0xFFFFFFFF], 0xFFFFFFFF),
    ("v_lshl_or_b32 v9, v0, 16, v1", [1, 2], [0x0000FFFF, 0xFFFFFFFF], 0xFFFFFFFF),
    ("v_add_u32 v9, v0, v1", [1, 2], [0x0000FFFF, 0xFFFFFFFF], 0x0000FFFF),
    ("v_mul_u32_u24 v9, v0, v1", [1, 2], [0x00FFFFFF, 0x00FFFFFF], 0xFFFFFFFF),
    ("v_mul_lo_u32 v9, v0, 0", [1], [0], 0xFFFFFFFF),
    ("v_alignbit_b32 v9, v0, v1, 16", [1, 2], [0x0000FFFF, 0xFFFF0000], 0xFFFFFFFF),
    ("v_mov_b32 v9, v0", [1], [0x00FF00FF], 0x00FF00FF),
    ("v_add_u16 v9, v0, v1", [1, 2], [0x0000FFFF, 0x0000FFFF], 0xFFFFFFFF),
    ("v_mul_lo_u32 v9, v0, v1", [3, 2], [0x0000FFFF, 0xFFFFFFFF], 0x0000FFFF),
]


@pytest.mark.parametrize(("text", "values", "defined", "expected"), PRECISE)
def test_bytes_that_stay_defined(text: str, values: list[int], defined: list[int], expected: int) -> None:
    assert hex(step_one_lane(text, values, defined)[1]) == hex(expected)


def test_the_low_half_of_a_wide_sum_does_not_need_the_high_one() -> None:
    values = {i: np.full((1, 64), 7, np.uint32) for i in (0, 1, 4, 5)}
    none = {5: np.zeros((1, 4), np.uint64)}
    for text in ("v_mad_u64_u32 v[8:9], vcc, v0, v1, v[4:5]", "v_lshl_add_u64 v[8:9], v[0:1], 2, v[4:5]"):
        after = step(text, Registers(values, {}, none), [8, 9], [VCC])
        assert (after.vectors_defined[8] == ALL_LANES).all()
        assert not after.vectors_defined[9].any()
    for text in ("v_lshlrev_b64 v[8:9], 32, v[4:5]", "v_mov_b64 v[8:9], v[4:5]"):
        after = step(text, Registers(values, {}, none), [8, 9])
        assert (after.vectors_defined[8] == ALL_LANES).all()


@pytest.mark.parametrize(("text", "defined", "expected"), [
    ("s_and_b32 s9, s4, 0xff", 0xFFFFFF0F, 0xFFFFFF0F), ("s_or_b32 s9, s4, 0xff", 0xFF, 0xFF),
    ("s_add_u32 s9, s4, 1", 0xFFFF7FFF, 0x7FFF), ("s_lshl_b32 s9, s4, 4", 0xF000000F, 0xFF),
    ("s_bfe_u32 s9, s4, 0x40004", 0xF0, 0xFFFFFFFF), ("s_mul_i32 s9, s4, 3", 0xFFFEFFFF, 0xFFFF),
])  # fmt: skip
def test_bits_of_scalars_that_stay_defined(text: str, defined: int, expected: int) -> None:
    before = Registers({}, {4: np.array([5], np.uint32)}, {}, {4: np.array([defined], np.uint32)})
    assert hex(step(text, before, [], [9]).scalars_defined[9][0]) == hex(expected)
