"""Lanes of 64 bits, and instructions with products or sums of that width, against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.register_steps import VCC, Registers, step

Array = np.ndarray
STATES, LONG_STATES = 313, 15_625
LONG = (1 << 64) - 1


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def clamped(x: int, low: int, top: int) -> int:
    return min(max(x, low), top)


def unsigned_mad(a: int, b: int, c: int) -> int:
    return a * b + c


def signed_mad(a: int, b: int, c: int) -> int:
    return signed(a, 32) * signed(b, 32) + signed(c, 64)


def byte(x: int, k: int) -> int:
    return x >> 8 * k & 255


def distances(a: int, b: int, first: int, is_masked: bool) -> int:
    pairs = [(byte(a, first + k), byte(b, k)) for k in range(4)]
    return sum(abs(x - y) for x, y in pairs if y or not is_masked)


def four_sums(sources: tuple[int, ...], is_masked: bool, bits: int, saturates: bool = False) -> int:
    a, b, c = sources
    top = (1 << bits) - 1
    sums = [(c >> bits * k & top) + distances(a, b, k, is_masked) for k in range(4)]
    return sum((min(x, top) if saturates else x & top) << bits * k for k, x in enumerate(sums))


# Text, dwords of each source from v0 on in pairs (v0, v2, v4), and what it gives.
WIDE: dict[str, tuple[tuple[int, ...], Callable[..., int]]] = {
    "v_lshlrev_b64 v[10:11], v0, v[2:3]": ((1, 2), lambda a, b: b << a % 64),
    "v_lshrrev_b64 v[10:11], v0, v[2:3]": ((1, 2), lambda a, b: b >> a % 64),
    "v_ashrrev_i64 v[10:11], v0, v[2:3]": ((1, 2), lambda a, b: signed(b, 64) >> a % 64),
    "v_lshl_add_u64 v[10:11], v[0:1], 3, v[4:5]": ((2, 0, 2), lambda a, c: (a << 3) + c),
    "v_lshl_add_u64 v[10:11], v[0:1], v2, v[4:5]": ((2, 1, 2), lambda a, b, c: (a << b % 8) + c),
    "v_lshl_add_u64 v[10:11], v[0:1], 0, v[4:5]": ((2, 0, 2), lambda a, c: a + c),
    "v_mad_u64_u32 v[10:11], vcc, v0, v2, v[4:5]": ((1, 1, 2), unsigned_mad),
    "v_mad_i64_i32 v[10:11], vcc, v0, v2, v[4:5]": ((1, 1, 2), signed_mad),
    "v_mad_u64_u32 v[10:11], vcc, v0, v2, v[4:5] clamp": ((1, 1, 2), lambda *x: clamped(unsigned_mad(*x), 0, LONG)),
    "v_mad_i64_i32 v[10:11], vcc, v0, v2, v[4:5] clamp": (
        (1, 1, 2), lambda *x: clamped(signed_mad(*x), -(1 << 63), (1 << 63) - 1)),
    "v_mad_u64_u32 v[10:11], vcc, v0, v2, 0": ((1, 1), lambda a, b: a * b),
    "v_qsad_pk_u16_u8 v[10:11], v[0:1], v2, v[4:5]": ((2, 1, 2), lambda *x: four_sums(x, False, 16)),
    "v_qsad_pk_u16_u8 v[10:11], v[0:1], v2, v[4:5] clamp": ((2, 1, 2), lambda *x: four_sums(x, False, 16, True)),
    "v_mqsad_pk_u16_u8 v[10:11], v[0:1], v2, v[4:5]": ((2, 1, 2), lambda *x: four_sums(x, True, 16)),
    "v_mqsad_u32_u8 v[10:13], v[0:1], v2, v[4:7]": ((2, 1, 4), lambda *x: four_sums(x, True, 32)),
}  # fmt: skip


def check(text: str, states: int) -> None:
    widths, f = WIDE[text]
    words = awkward_words(states * 64, 8, seed=len(text))
    before = Registers({i: w.reshape(states, 64) for i, w in enumerate(words)})
    count = 4 if "[10:13]" in text else 2
    after = step(text, before, list(range(10, 10 + count)), [VCC, VCC + 1])
    sources = []
    for index, width in enumerate(widths):
        if width:
            parts = [words[2 * index + d].astype(object) << 32 * d for d in range(width)]
            sources.append(sum(parts))
    top = (1 << 32 * count) - 1
    expected = [f(*x) & top for x in zip(*sources, strict=True)]
    actual = np.array(sum(after.vectors[10 + d].ravel().astype(object) << 32 * d for d in range(count)), object)
    assert actual.tolist() == expected


@pytest.mark.parametrize("text", WIDE)
def test_wide_lanes(text: str) -> None:
    check(text, STATES)


@pytest.mark.long
@pytest.mark.parametrize("text", WIDE)
def test_a_million_wide_lanes(text: str) -> None:
    check(text, LONG_STATES)


@pytest.mark.parametrize(("name", "f"), [("v_mad_u64_u32", unsigned_mad), ("v_mad_i64_i32", signed_mad)])
def test_the_carry_of_a_product_is_bit_64(name: str, f: Callable[..., int]) -> None:
    words = awkward_words(STATES * 64, 6, seed=8)
    for i in (4, 5):
        words[i][::3] = 0xFFFFFFFF
        words[i][1::3] = 0x7FFFFFFF
    before = Registers({i: w.reshape(STATES, 64) for i, w in enumerate(words)})
    after = step(f"{name} v[10:11], vcc, v0, v2, v[4:5]", before, [], [VCC, VCC + 1])
    lanes = zip(words[0], words[2], words[4], words[5], strict=True)
    carries = [f(int(a), int(b), int(c) | int(d) << 32) >> 64 & 1 for a, b, c, d in lanes]
    masks = [sum(bit << lane for lane, bit in enumerate(carries[i : i + 64])) for i in range(0, len(carries), 64)]
    assert any(masks)
    assert [int(a) | int(b) << 32 for a, b in zip(after.scalars[VCC], after.scalars[VCC + 1], strict=True)] == masks
