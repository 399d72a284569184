"""Bitwise operations, shifts and moves on lanes against Python's integers and NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.register_steps import EXEC, Registers, step

Array = np.ndarray
STATES, LONG_STATES = 313, 15_625
FULL = 0xFFFFFFFF


def each(f: Callable[..., int]) -> Callable[..., Array]:
    """f of Python integers, for every lane."""
    return lambda *words: np.vectorize(lambda *x: f(*map(int, x)) & FULL, otypes=[np.int64])(*words)


def signed(x: int, bits: int = 32) -> int:
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def leading(x: int) -> int:
    return 32 - x.bit_length() if x else FULL


def trailing(x: int) -> int:
    return (x & -x).bit_length() - 1 if x else FULL


def leading_signs(x: int) -> int:
    return leading(x ^ FULL if x >> 31 else x)


def bfe(a: int, b: int, c: int) -> int:
    return (a >> b % 32) & ((1 << c % 32) - 1)


def signed_bfe(a: int, b: int, c: int) -> int:
    width = c % 32
    return signed((signed(a) >> b % 32) & ((1 << width) - 1), width) if width else 0


def perm(a: int, b: int, selector: int) -> int:
    table = [*b.to_bytes(4, "little"), *a.to_bytes(4, "little")]
    signs = [255 * (x >> 7) for x in table[1::2]]
    table += [*signs, 0] + [255] * 243
    return int.from_bytes(bytes(table[s] for s in selector.to_bytes(4, "little")), "little")


PLAIN: dict[str, Callable[..., Array]] = {
    "v_mov_b32 {1}": lambda a: a,
    "v_not_b32 {1}": lambda a: ~a,
    "v_bfrev_b32 {1}": each(lambda a: int(f"{a:032b}"[::-1], 2)),
    "v_ffbh_u32 {1}": each(leading),
    "v_ffbh_i32 {1}": each(leading_signs),
    "v_ffbl_b32 {1}": each(trailing),
    "v_and_b32 {2}": lambda a, b: a & b,
    "v_or_b32 {2}": lambda a, b: a | b,
    "v_xor_b32 {2}": lambda a, b: a ^ b,
    "v_xnor_b32 {2}": lambda a, b: ~(a ^ b),
    "v_and_or_b32 {3}": lambda a, b, c: (a & b) | c,
    "v_or3_b32 {3}": lambda a, b, c: a | b | c,
    "v_lshl_or_b32 {3}": each(lambda a, b, c: a << b % 32 | c),
    "v_lshlrev_b32 {2}": each(lambda a, b: b << a % 32),
    "v_lshrrev_b32 {2}": each(lambda a, b: b >> a % 32),
    "v_ashrrev_i32 {2}": each(lambda a, b: signed(b) >> a % 32),
    "v_lshlrev_b16 {2}": each(lambda a, b: b << a % 16 & 0xFFFF),
    "v_lshrrev_b16 {2}": each(lambda a, b: (b & 0xFFFF) >> a % 16),
    "v_ashrrev_i16 {2}": each(lambda a, b: signed(b & 0xFFFF, 16) >> a % 16 & 0xFFFF),
    "v_bfe_u32 {3}": each(bfe),
    "v_bfe_i32 {3}": each(signed_bfe),
    "v_bfi_b32 {3}": lambda a, b, c: (a & b) | (~a & c),
    "v_bfm_b32 {2}": each(lambda a, b: ((1 << a % 32) - 1) << b % 32),
    "v_alignbit_b32 {3}": each(lambda a, b, c: (a << 32 | b) >> c % 32),
    "v_alignbyte_b32 {3}": each(lambda a, b, c: (a << 32 | b) >> 8 * (c % 4)),
    "v_perm_b32 {3}": each(perm),
    "v_bcnt_u32_b32 {2}": each(lambda a, b: a.bit_count() + b),
    "v_accvgpr_write_b32 a3, v0": lambda a: a,
    "v_accvgpr_read_b32 v9, a0": lambda a: a,
    "v_accvgpr_mov_b32 a3, a0": lambda a: a,
}


def check(template: str, states: int) -> None:
    sources = next((n for n in (1, 2, 3) if f"{{{n}}}" in template), 1)
    text = template.replace(f"{{{sources}}}", ", ".join(["v9", "v0", "v1", "v2"][: sources + 1]))
    words = [w.reshape(states, 64) for w in awkward_words(states * 64, 3, seed=len(template))]
    if "perm" in text:
        words[2] %= np.uint32(0x0E0E0E0E)  # selectors that mean something
    vectors = dict(enumerate(words)) | {256: words[0]}
    to = 259 if " a3" in text else 9
    result = step(text, Registers(vectors), [to]).vectors[to]
    np.testing.assert_array_equal(result, PLAIN[template](*words[:sources]).astype(np.uint32))


@pytest.mark.parametrize("template", PLAIN)
def test_bits_of_lanes(template: str) -> None:
    check(template, STATES)


@pytest.mark.long
@pytest.mark.parametrize("template", PLAIN)
def test_bits_of_a_million_operands(template: str) -> None:
    check(template, LONG_STATES)


@pytest.mark.parametrize("selector", [0x07060504, 0x0C010C00, 0x00010203, 0x0D080B0C, 0x0C0C0501, 0xFF0C0A09])
def test_perm_with_one_selector_for_all_lanes(selector: int) -> None:
    a, b = (w.reshape(STATES, 64) for w in awkward_words(STATES * 64, 2, seed=3))
    expected = each(perm)(a, b, np.uint32(selector)).astype(np.uint32)
    before = Registers({0: a, 1: b}, {4: np.full(STATES, selector, np.uint32)})
    np.testing.assert_array_equal(step("v_perm_b32 v9, v0, v1, s4", before, [9]).vectors[9], expected)


@pytest.mark.parametrize("shift", range(16))
@pytest.mark.parametrize("name", ["v_lshlrev_b16", "v_lshrrev_b16", "v_ashrrev_i16"])
def test_every_shift_of_every_half(name: str, shift: int) -> None:
    all_halves = np.arange(65536, dtype=np.uint32).reshape(-1, 64) | np.uint32(0xA5A50000)
    result = step(f"{name} v9, {shift}, v0", Registers({0: all_halves}), [9]).vectors[9].astype(np.int64)
    low = all_halves.astype(np.uint16)
    expected = {
        "v_lshlrev_b16": (low.astype(np.int64) << shift) & 0xFFFF,
        "v_lshrrev_b16": low.astype(np.int64) >> shift,
        "v_ashrrev_i16": (low.view(np.int16).astype(np.int64) >> shift) & 0xFFFF,
    }[name]
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("name", "first"), [("v_mbcnt_lo_u32_b32", 0), ("v_mbcnt_hi_u32_b32", 32)])
def test_mbcnt_counts_the_lanes_below(name: str, first: int) -> None:
    mask, base = (w.reshape(STATES, 64) for w in awkward_words(STATES * 64, 2, seed=9))
    result = step(f"{name} v9, v0, v1", Registers({0: mask, 1: base}), [9]).vectors[9]
    for lane in range(64):
        below = (1 << min(32, max(0, lane - first))) - 1
        expected = [
            (int(m) & below).bit_count() + int(b) & FULL for m, b in zip(mask[:, lane], base[:, lane], strict=True)
        ]
        np.testing.assert_array_equal(result[:, lane], expected)


def test_swap_changes_active_lanes_of_both() -> None:
    a, b = (w.reshape(STATES, 64) for w in awkward_words(STATES * 64, 2, seed=4))
    before = Registers({0: a, 1: b}, {EXEC: np.full(STATES, 0xFFFF, np.uint32), EXEC + 1: np.zeros(STATES, np.uint32)})
    after = step("v_swap_b32 v0, v1", before, [0, 1]).vectors
    active = np.arange(64) < 16
    np.testing.assert_array_equal(after[0], np.where(active, b, a))
    np.testing.assert_array_equal(after[1], np.where(active, a, b))


def test_mov_of_two_registers() -> None:
    a, b = (w.reshape(STATES, 64) for w in awkward_words(STATES * 64, 2, seed=4))
    after = step("v_mov_b64 v[1:2], v[0:1]", Registers({0: a, 1: b}), [0, 1, 2]).vectors
    np.testing.assert_array_equal(after[1], a)
    np.testing.assert_array_equal(after[2], b)


def test_only_active_lanes_are_written() -> None:
    a = awkward_words(STATES * 64, 1, seed=4)[0].reshape(STATES, 64)
    before = Registers(
        {0: a, 9: a}, {EXEC: np.full(STATES, 5, np.uint32), EXEC + 1: np.full(STATES, 1 << 31, np.uint32)}
    )
    after = step("v_not_b32 v9, v0", before, [9]).vectors[9]
    np.testing.assert_array_equal(after, np.where(np.isin(np.arange(64), (0, 2, 63)), ~a, a))
