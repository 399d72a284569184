"""Integer arithmetic on lanes of 32 and 16 bits against exact integers of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.register_steps import EXEC, VCC, Registers, step

Array = Any  # an array of integers
STATES, LONG_STATES = 313, 15_625  # of 64 lanes: 20,000 and a million operands


def u(x: Array) -> Array:
    return x.astype(np.uint32).astype(np.int64)


def s(x: Array) -> Array:
    return x.astype(np.uint32).view(np.int32).astype(np.int64)


def u16(x: Array) -> Array:
    return x.astype(np.uint32).astype(np.uint16).astype(np.int64)


def s16(x: Array) -> Array:
    return x.astype(np.uint32).astype(np.uint16).view(np.int16).astype(np.int64)


def u24(x: Array) -> Array:
    return u(x) % (1 << 24)


def s24(x: Array) -> Array:
    return (u24(x) + (1 << 23)) % (1 << 24) - (1 << 23)


def high(product: Array) -> Array:
    return product >> 32


def unsigned_high(a: Array, b: Array) -> Array:
    return np.array([int(x) * int(y) >> 32 for x, y in zip(a.ravel(), b.ravel(), strict=True)]).reshape(a.shape)


def limit(value: Array, low: int, top: int) -> Array:
    return np.clip(value, low, top)


def to_u32(value: Array) -> Array:
    return limit(value, 0, 0xFFFFFFFF)


def to_s32(value: Array) -> Array:
    return limit(value, -(1 << 31), (1 << 31) - 1)


def to_u16(value: Array) -> Array:
    return limit(value, 0, 0xFFFF)


def to_s16(value: Array) -> Array:
    return limit(value, -(1 << 15), (1 << 15) - 1)


def half(value: Array) -> Array:
    return value & 0xFFFF


def byte(value: Array, k: int) -> Array:
    return u(value) >> 8 * k & 255


def byte_distances(a: Array, b: Array) -> Array:
    return sum(np.abs(byte(a, k) - byte(b, k)) for k in range(4))


def masked_distances(a: Array, b: Array) -> Array:
    return sum(np.where(byte(b, k) > 0, np.abs(byte(a, k) - byte(b, k)), 0) for k in range(4))


def half_distances(a: Array, b: Array) -> Array:
    return np.abs(u16(a) - u16(b)) + np.abs(u16(a >> 16) - u16(b >> 16))


def middle(a: Array, b: Array, c: Array) -> Array:
    return np.median(np.stack([a, b, c]), axis=0).astype(np.int64)


def lerp(a: Array, b: Array, c: Array) -> Array:
    return sum((byte(a, k) + byte(b, k) + (byte(c, k) & 1) >> 1) << 8 * k for k in range(4))


def small3(a: Array, b: Array, c: Array) -> Array:
    return np.minimum(np.minimum(a, b), c)


def large3(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(np.maximum(a, b), c)


# mnemonic, and what it gives for u32 words; with "clamp": what its saturated form gives.
PLAIN: dict[str, Callable[..., Array]] = {
    "v_add_u32 {2}": lambda a, b: u(a) + u(b),
    "v_sub_u32 {2}": lambda a, b: u(a) - u(b),
    "v_subrev_u32 {2}": lambda a, b: u(b) - u(a),
    "v_add_u32 {2} clamp": lambda a, b: to_u32(u(a) + u(b)),
    "v_sub_u32 {2} clamp": lambda a, b: to_u32(u(a) - u(b)),
    "v_subrev_u32 {2} clamp": lambda a, b: to_u32(u(b) - u(a)),
    "v_add_i32 {2}": lambda a, b: s(a) + s(b),
    "v_sub_i32 {2}": lambda a, b: s(a) - s(b),
    "v_add_i32 {2} clamp": lambda a, b: to_s32(s(a) + s(b)),
    "v_sub_i32 {2} clamp": lambda a, b: to_s32(s(a) - s(b)),
    "v_add3_u32 {3}": lambda a, b, c: u(a) + u(b) + u(c),
    "v_lshl_add_u32 {3}": lambda a, b, c: (u(a) << (u(b) % 32)) + u(c),
    "v_add_lshl_u32 {3}": lambda a, b, c: ((u(a) + u(b)) & 0xFFFFFFFF) << (u(c) % 32),
    "v_xad_u32 {3}": lambda a, b, c: (u(a) ^ u(b)) + u(c),
    "v_mul_lo_u32 {2}": lambda a, b: (u(a).astype(np.uint64) * u(b).astype(np.uint64)).view(np.int64),
    "v_mul_lo_i32 {2}": lambda a, b: s(a) * s(b),
    "v_mul_hi_u32 {2}": lambda a, b: unsigned_high(u(a), u(b)),
    "v_mul_hi_i32 {2}": lambda a, b: high(s(a) * s(b)),
    "v_mul_u32_u24 {2}": lambda a, b: u24(a) * u24(b),
    "v_mul_i32_i24 {2}": lambda a, b: s24(a) * s24(b),
    "v_mul_hi_u32_u24 {2}": lambda a, b: high(u24(a) * u24(b)),
    "v_mul_hi_i32_i24 {2}": lambda a, b: high(s24(a) * s24(b)),
    "v_mad_u32_u24 {3}": lambda a, b, c: u24(a) * u24(b) + u(c),
    "v_mad_u32_u24 {3} clamp": lambda a, b, c: to_u32(u24(a) * u24(b) + u(c)),
    "v_mad_i32_i24 {3}": lambda a, b, c: s24(a) * s24(b) + s(c),
    "v_mad_i32_i24 {3} clamp": lambda a, b, c: to_s32(s24(a) * s24(b) + s(c)),
    "v_mad_u32_u16 {3}": lambda a, b, c: u16(a) * u16(b) + u(c),
    "v_mad_u32_u16 {3} clamp": lambda a, b, c: to_u32(u16(a) * u16(b) + u(c)),
    "v_mad_i32_i16 {3}": lambda a, b, c: s16(a) * s16(b) + s(c),
    "v_mad_i32_i16 {3} clamp": lambda a, b, c: to_s32(s16(a) * s16(b) + s(c)),
    "v_min_i32 {2}": lambda a, b: np.minimum(s(a), s(b)),
    "v_max_i32 {2}": lambda a, b: np.maximum(s(a), s(b)),
    "v_min_u32 {2}": lambda a, b: np.minimum(u(a), u(b)),
    "v_max_u32 {2}": lambda a, b: np.maximum(u(a), u(b)),
    "v_min_i16 {2}": lambda a, b: half(np.minimum(s16(a), s16(b))),
    "v_max_i16 {2}": lambda a, b: half(np.maximum(s16(a), s16(b))),
    "v_min_u16 {2}": lambda a, b: np.minimum(u16(a), u16(b)),
    "v_max_u16 {2}": lambda a, b: np.maximum(u16(a), u16(b)),
    "v_min3_i32 {3}": lambda a, b, c: small3(s(a), s(b), s(c)),
    "v_max3_i32 {3}": lambda a, b, c: large3(s(a), s(b), s(c)),
    "v_med3_i32 {3}": lambda a, b, c: middle(s(a), s(b), s(c)),
    "v_min3_u32 {3}": lambda a, b, c: small3(u(a), u(b), u(c)),
    "v_max3_u32 {3}": lambda a, b, c: large3(u(a), u(b), u(c)),
    "v_med3_u32 {3}": lambda a, b, c: middle(u(a), u(b), u(c)),
    "v_add_u16 {2}": lambda a, b: half(u16(a) + u16(b)),
    "v_sub_u16 {2}": lambda a, b: half(u16(a) - u16(b)),
    "v_subrev_u16 {2}": lambda a, b: half(u16(b) - u16(a)),
    "v_add_u16 {2} clamp": lambda a, b: to_u16(u16(a) + u16(b)),
    "v_sub_u16 {2} clamp": lambda a, b: to_u16(u16(a) - u16(b)),
    "v_mul_lo_u16 {2}": lambda a, b: half(u16(a) * u16(b)),
    "v_mad_legacy_u16 {3}": lambda a, b, c: half(u16(a) * u16(b) + u16(c)),
    "v_mad_legacy_i16 {3}": lambda a, b, c: half(s16(a) * s16(b) + s16(c)),
    "v_sad_u8 {3}": lambda a, b, c: byte_distances(a, b) + u(c),
    "v_sad_u8 {3} clamp": lambda a, b, c: to_u32(byte_distances(a, b) + u(c)),
    "v_msad_u8 {3}": lambda a, b, c: masked_distances(a, b) + u(c),
    "v_sad_hi_u8 {3}": lambda a, b, c: (byte_distances(a, b) << 16) + u(c),
    "v_sad_u16 {3}": lambda a, b, c: half_distances(a, b) + u(c),
    "v_sad_u32 {3}": lambda a, b, c: np.abs(u(a) - u(b)) + u(c),
    "v_sad_u32 {3} clamp": lambda a, b, c: to_u32(np.abs(u(a) - u(b)) + u(c)),
    "v_lerp_u8 {3}": lerp,
    "v_sat_pk_u8_i16 {1}": lambda a: limit(s16(a), 0, 255) | limit(s16(a >> 16), 0, 255) << 8,
}
# Those leave the upper half of the register as it was.
HALVES: dict[str, Callable[..., Array]] = {
    "v_add_i16 {2}": lambda a, b: s16(a) + s16(b),
    "v_sub_i16 {2}": lambda a, b: s16(a) - s16(b),
    "v_add_i16 {2} clamp": lambda a, b: to_s16(s16(a) + s16(b)),
    "v_sub_i16 {2} clamp": lambda a, b: to_s16(s16(a) - s16(b)),
    "v_mad_u16 {3}": lambda a, b, c: u16(a) * u16(b) + u16(c),
    "v_mad_u16 {3} clamp": lambda a, b, c: to_u16(u16(a) * u16(b) + u16(c)),
    "v_mad_i16 {3}": lambda a, b, c: s16(a) * s16(b) + s16(c),
    "v_mad_i16 {3} clamp": lambda a, b, c: to_s16(s16(a) * s16(b) + s16(c)),
    "v_min3_i16 {3}": lambda a, b, c: small3(s16(a), s16(b), s16(c)),
    "v_max3_i16 {3}": lambda a, b, c: large3(s16(a), s16(b), s16(c)),
    "v_med3_i16 {3}": lambda a, b, c: middle(s16(a), s16(b), s16(c)),
    "v_min3_u16 {3}": lambda a, b, c: small3(u16(a), u16(b), u16(c)),
    "v_max3_u16 {3}": lambda a, b, c: large3(u16(a), u16(b), u16(c)),
    "v_med3_u16 {3}": lambda a, b, c: middle(u16(a), u16(b), u16(c)),
}


def executed(template: str, states: int, old: Array | None = None) -> tuple[Array, list[Array]]:
    """The result register v9 of the instruction, and its sources."""
    sources = next(n for n in (1, 2, 3) if f"{{{n}}}" in template)
    text = template.replace(f"{{{sources}}}", ", ".join(["v9", "v0", "v1", "v2"][: sources + 1]))
    words = [w.reshape(states, 64) for w in awkward_words(states * 64, 3, seed=len(template))]
    vectors = dict(enumerate(words)) | ({} if old is None else {9: old})
    return step(text, Registers(vectors), [9]).vectors[9], words[:sources]


def check_plain(template: str, states: int) -> None:
    result, words = executed(template, states)
    np.testing.assert_array_equal(result, PLAIN[template](*words).astype(np.uint32))


@pytest.mark.parametrize("template", PLAIN)
def test_arithmetic_on_lanes(template: str) -> None:
    check_plain(template, STATES)


@pytest.mark.long
@pytest.mark.parametrize("template", PLAIN)
def test_arithmetic_on_a_million_operands(template: str) -> None:
    check_plain(template, LONG_STATES)


@pytest.mark.parametrize("template", HALVES)
def test_some_halves_leave_the_upper_half(template: str) -> None:
    old = np.full((STATES, 64), 0xABCD1234, np.uint32)
    result, words = executed(template, STATES, old)
    np.testing.assert_array_equal(result, half(HALVES[template](*words)).astype(np.uint32) | np.uint32(0xABCD0000))


@pytest.mark.parametrize("name", ["v_sad_u8", "v_msad_u8", "v_lerp_u8"])
def test_all_pairs_of_bytes(name: str) -> None:
    pairs: npt.NDArray[np.uint32] = np.arange(65536, dtype=np.uint32).reshape(-1, 64)
    a, b = pairs >> 8, pairs & 255
    repeated = [(x * 0x01010101).astype(np.uint32) for x in (a, b)]
    third = np.where(pairs & 1, np.uint32(0x01000100), np.uint32(0))
    result = step(f"{name} v9, v0, v1, v2", Registers({0: repeated[0], 1: repeated[1], 2: third}), [9]).vectors[9]
    np.testing.assert_array_equal(result, PLAIN[f"{name} {{3}}"](*repeated, third).astype(np.uint32))


@pytest.mark.parametrize("name", ["v_add_u16", "v_sub_u16", "v_mul_lo_u16", "v_min_i16", "v_max_u16"])
def test_every_half_with_awkward_ones(name: str) -> None:
    all_halves = np.arange(65536, dtype=np.uint32)
    first, second = (
        x.reshape(-1, 64) for x in np.broadcast_arrays(all_halves, np.array([[0], [1], [0x7FFF], [0x8000], [0xFFFF]]))
    )
    first, second = first.astype(np.uint32), second.astype(np.uint32)
    result = step(f"{name} v9, v0, v1", Registers({0: first, 1: second}), [9]).vectors[9]
    np.testing.assert_array_equal(result, PLAIN[f"{name} {{2}}"](first, second).astype(np.uint32))


def carries(carry: Array) -> tuple[Array, Array]:
    """Lanes as the two halves of a mask."""
    bits = carry.astype(np.uint64) << np.arange(64, dtype=np.uint64)
    mask = bits.sum(axis=1, dtype=np.uint64)
    return mask.astype(np.uint32), (mask >> np.uint64(32)).astype(np.uint32)


def lanes_of(halves: Array) -> Array:
    """The bits of a mask, one a lane."""
    lane = np.arange(64)
    return np.where(lane < 32, halves[0][:, None] >> lane % 32, halves[1][:, None] >> lane % 32) & 1


CARRYING: dict[str, Callable[..., Array]] = {
    "v_add_co_u32 v9, vcc, v0, v1": lambda a, b, c: a + b,
    "v_sub_co_u32 v9, vcc, v0, v1": lambda a, b, c: a - b,
    "v_subrev_co_u32 v9, vcc, v0, v1": lambda a, b, c: b - a,
    "v_addc_co_u32 v9, vcc, v0, v1, vcc": lambda a, b, c: a + b + c,
    "v_subb_co_u32 v9, vcc, v0, v1, vcc": lambda a, b, c: a - b - c,
    "v_subbrev_co_u32 v9, vcc, v0, v1, vcc": lambda a, b, c: b - a - c,
    "v_add_co_u32 v9, vcc, v0, v1 clamp": lambda a, b, c: a + b,
    "v_subb_co_u32 v9, vcc, v0, v1, vcc clamp": lambda a, b, c: a - b - c,
}


@pytest.mark.parametrize("text", CARRYING)
def test_carries_are_masks_within_exec(text: str) -> None:
    a, b = (w.reshape(-1, 64) for w in awkward_words(STATES * 64, 2, seed=len(text)))
    rng = np.random.default_rng(5)
    vcc, exec_ = (rng.integers(0, 1 << 32, (2, STATES), np.uint64).astype(np.uint32) for _ in range(2))
    before = Registers(
        {0: a, 1: b, 9: np.full_like(a, 77)}, {VCC: vcc[0], VCC + 1: vcc[1], EXEC: exec_[0], EXEC + 1: exec_[1]}
    )
    after = step(text, before, [9], [VCC, VCC + 1])
    exact = CARRYING[text](u(a), u(b), lanes_of(vcc).astype(np.int64))
    carry = (exact < 0) | (exact > 0xFFFFFFFF)
    active = lanes_of(exec_) == 1
    value = to_u32(exact) if "clamp" in text else exact
    np.testing.assert_array_equal(after.vectors[9], np.where(active, value.astype(np.uint32), 77))
    low, top = carries(carry & active)
    np.testing.assert_array_equal(after.scalars[VCC], low)
    np.testing.assert_array_equal(after.scalars[VCC + 1], top)
