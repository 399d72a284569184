"""Conversions of halves, singles, doubles, integers and 8-bit formats, against NumPy, ml_dtypes and exact integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.exact_floats import DOUBLE, DOWN, HALF, NEAREST, SINGLE, TO_ZERO, UP, FloatFormat, awkward
from tests.support.instruction_steps import Array, evaluate, mode

COUNTS = [20_000, pytest.param(1_000_000, marks=pytest.mark.long)]
EIGHT = {"fp8": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2fnuz}


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    """NumPy's conversions of NaN and infinities warn."""
    with np.errstate(all="ignore"):
        yield


def around_halves(form: FloatFormat, count: int) -> Array:
    """Awkward values, whole numbers and a half, and the ends of integers."""
    rng = np.random.default_rng(9)
    ends = np.array([2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63) for d in (-1, -0.5, 0, 0.5, 1)])
    values = np.concatenate([ends, -ends, rng.integers(-300, 300, 500) + 0.5, rng.uniform(-70000, 70000, 500)])
    values = values.astype(form.value)
    spread = [values, np.nextafter(values, form.value(np.inf)), np.nextafter(values, form.value(-np.inf))]
    return np.concatenate([awkward(form, count, 1).view(form.value), *spread])


def saturated(values: Array, integer: Any) -> Array:
    about = np.iinfo(integer)
    inside = np.clip(
        np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1e300, neginf=-1e300), about.min, about.max
    )
    return inside.astype(integer)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    ("name", "form", "integer"),
    [
        ("cvt_i32_f32", SINGLE, np.int32),
        ("cvt_u32_f32", SINGLE, np.uint32),
        ("cvt_i32_f64", DOUBLE, np.int32),
        ("cvt_u32_f64", DOUBLE, np.uint32),
        ("cvt_i16_f16", HALF, np.int16),
        ("cvt_u16_f16", HALF, np.uint16),
    ],
)
def test_to_integers(name: str, form: FloatFormat, integer: Any, count: int) -> None:
    x = np.arange(65536).astype(np.uint16).view(np.float16) if form is HALF else around_halves(form, count)
    actual = evaluate(f"v_{name} {{d}}, {{0}}", x, result=integer)
    assert np.array_equal(actual, saturated(np.trunc(x), integer))


def test_to_integers_by_other_roundings() -> None:
    x = around_halves(SINGLE, 20_000)
    below, nearest = np.floor(x), np.floor(x + np.float32(0.5))
    assert np.array_equal(evaluate("v_cvt_flr_i32_f32 {d}, {0}", x, result=np.int32), saturated(below, np.int32))
    assert np.array_equal(evaluate("v_cvt_rpi_i32_f32 {d}, {0}", x, result=np.int32), saturated(nearest, np.int32))


@pytest.mark.parametrize(
    ("name", "integer", "form"),
    [
        ("cvt_f32_i32", np.int32, SINGLE),
        ("cvt_f32_u32", np.uint32, SINGLE),
        ("cvt_f64_i32", np.int32, DOUBLE),
        ("cvt_f64_u32", np.uint32, DOUBLE),
        ("cvt_f16_i16", np.int16, HALF),
        ("cvt_f16_u16", np.uint16, HALF),
    ],
)
@pytest.mark.parametrize("rounding", [NEAREST, UP, DOWN, TO_ZERO])
def test_of_integers(name: str, integer: Any, form: FloatFormat, rounding: int) -> None:
    (raw,) = awkward_words(20_000, 1, 3)
    x = (
        raw.astype(np.uint32).astype(integer)
        if np.dtype(integer).itemsize == 4
        else raw.astype(np.uint16).view(integer)
    )
    setting = mode(single=rounding, double=rounding)
    actual = evaluate(f"v_{name} {{d}}, {{0}}", x, result=form.word, setting=setting)
    assert actual.tolist() == [form.rounded((n, 0), rounding) for n in x.tolist()]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(("wide", "narrow", "name"), [(SINGLE, HALF, "cvt_f16_f32"), (DOUBLE, SINGLE, "cvt_f32_f64")])
@pytest.mark.parametrize("rounding", [NEAREST, UP, DOWN, TO_ZERO])
def test_to_narrower_formats(wide: FloatFormat, narrow: FloatFormat, name: str, rounding: int, count: int) -> None:
    rng = np.random.default_rng(1)
    some = awkward(narrow, count // 4, 1).view(narrow.value).astype(wide.value)
    ties = (some.astype(np.float64) * (1 + 2.0 ** -(narrow.mantissa + 1))).astype(wide.value)
    tiny = (rng.standard_normal(count // 4) * 2.0 ** (narrow.least + rng.uniform(-2, 12, count // 4))).astype(
        wide.value
    )
    x = np.concatenate([awkward(wide, count // 4, 2).view(wide.value), some, ties, tiny])
    actual = evaluate(f"v_{name} {{d}}, {{0}}", x, result=narrow.word, setting=mode(single=rounding, double=rounding))
    for code, g in zip(x.view(wide.word).tolist(), actual.tolist(), strict=True):
        sign = code >> (wide.bits - 1)
        if wide.is_finite(code):
            assert g == narrow.rounded(wide.exact(code), rounding, negative_zero=bool(sign))
        elif wide.is_nan(code):
            assert narrow.is_nan(g) and g & narrow.quiet
        else:
            assert g == narrow.infinity | sign << (narrow.bits - 1)


def test_to_wider_formats() -> None:
    half = np.arange(65536).astype(np.uint16).view(np.float16)
    actual = evaluate("v_cvt_f32_f16 {d}, {0}", half, result=np.float32)
    assert np.array_equal(actual, half.astype(np.float32), equal_nan=True)
    single = awkward(SINGLE, 20_000, 1).view(np.float32)
    actual = evaluate("v_cvt_f64_f32 {d}, {0}", single, result=np.float64)
    assert np.array_equal(actual, single.astype(np.float64), equal_nan=True)
    flushing = evaluate("v_cvt_f64_f32 {d}, {0}", single, result=np.float64, setting=mode(denormals=12))
    tiny = np.abs(single) < np.float32(2**-126)
    assert (flushing[tiny] == 0).all() and np.array_equal(flushing[~tiny], actual[~tiny], equal_nan=True)


def test_pairs_of_halves_rounded_to_zero() -> None:
    rng = np.random.default_rng(2)
    a, b = (awkward(SINGLE, 30_000, s).view(np.float32) for s in (1, 2))
    b = np.where(
        np.arange(len(b)) % 2,
        b,
        (rng.standard_normal(len(b)) * 2.0 ** rng.uniform(-28, -10, len(b))).astype(np.float32),
    )
    for setting in (mode(), mode(double=UP)):
        actual = evaluate("v_cvt_pkrtz_f16_f32 {d}, {0}, {1}", a, b, setting=setting)
        for x, y, pair in zip(a.view(np.uint32).tolist(), b.view(np.uint32).tolist(), actual.tolist(), strict=True):
            for code, half in ((x, pair & 0xFFFF), (y, pair >> 16)):
                if SINGLE.is_finite(code):
                    assert half == HALF.rounded(SINGLE.exact(code), TO_ZERO, negative_zero=bool(code >> 31))
                else:
                    assert HALF.is_nan(half) if SINGLE.is_nan(code) else half == HALF.infinity | code >> 31 << 15


def test_bytes_and_nibbles() -> None:
    (x,) = awkward_words(20_000, 1, 1)
    for k in range(4):
        actual = evaluate(f"v_cvt_f32_ubyte{k} {{d}}, {{0}}", x, result=np.float32)
        assert np.array_equal(actual, (x >> 8 * k & 255).astype(np.float32))
    nibble = (x & 15).astype(np.int64)
    expected = np.where(nibble > 7, nibble - 16, nibble) / 16
    assert np.array_equal(evaluate("v_cvt_off_f32_i4 {d}, {0}", x, result=np.float32), expected.astype(np.float32))


NORMS = {"i16": (-1.0, 32767), "u16": (0.0, 65535)}


@pytest.mark.parametrize("kind", NORMS)
@pytest.mark.parametrize("form", [HALF, SINGLE], ids=["f16", "f32"])
def test_fractions_of_the_largest_integer(kind: str, form: FloatFormat) -> None:
    least, most = NORMS[kind]
    rng = np.random.default_rng(4)
    a, b = (
        np.concatenate([awkward(form, 9_000, s).view(form.value), rng.uniform(-1.2, 1.2, 9_000).astype(form.value)])
        for s in (1, 2)
    )

    def norm(x: Array) -> Array:
        scaled = np.clip(x.astype(np.float32), least, 1) * np.float32(most)
        return np.asarray(np.nan_to_num(np.rint(scaled)).astype(np.int64) & 0xFFFF)

    name = "f16" if form is HALF else "f32"
    actual = evaluate(f"v_cvt_pknorm_{kind}_{name} {{d}}, {{0}}, {{1}}", a, b)
    assert np.array_equal(actual, norm(a) | norm(b) << 16)
    if form is HALF:
        assert np.array_equal(evaluate(f"v_cvt_norm_{kind}_f16 {{d}}, {{0}}", a), norm(a))


def test_packed_integers_saturate() -> None:
    a, b = awkward_words(20_000, 2, 1)
    signed = [np.clip(x.view(np.int32).astype(np.int64), -32768, 32767) & 0xFFFF for x in (a, b)]
    unsigned = [np.minimum(x.astype(np.int64), 65535) for x in (a, b)]
    assert np.array_equal(evaluate("v_cvt_pk_i16_i32 {d}, {0}, {1}", a, b), signed[0] | signed[1] << 16)
    assert np.array_equal(evaluate("v_cvt_pk_u16_u32 {d}, {0}, {1}", a, b), unsigned[0] | unsigned[1] << 16)
    halves = [np.clip((a >> s).astype(np.uint16).view(np.int16).astype(np.int64), 0, 255) for s in (0, 16)]
    assert np.array_equal(evaluate("v_sat_pk_u8_i16 {d}, {0}", a, old=0xFFFFFFFF), halves[0] | halves[1] << 8)


def test_byte_inserted() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-20, 300, 10_000), np.arange(-4, 260) + 0.5, [np.nan, np.inf, -np.inf]]).astype(
        np.float32
    )
    position, old_word = awkward_words(len(x), 2, 2)
    value = np.clip(np.nan_to_num(np.rint(x), nan=0, posinf=255, neginf=0), 0, 255).astype(np.uint32)
    shift = 8 * (position & 3)
    expected = (old_word & ~(np.uint32(255) << shift)) | value << shift
    assert np.array_equal(evaluate("v_cvt_pk_u8_f32 {d}, {0}, {1}, {2}", x, position, old_word), expected)


@pytest.mark.parametrize("kind", EIGHT)
def test_every_code_of_8_bits(kind: str) -> None:
    codes = np.arange(256, dtype=np.uint32)
    values = codes.astype(np.uint8).view(EIGHT[kind]).astype(np.float32)
    word = codes | codes[::-1] << 8 | np.roll(codes, 7) << 16 | np.roll(codes, 99) << 24
    parts = [values, values[::-1], np.roll(values, 7), np.roll(values, 99)]
    assert np.array_equal(evaluate(f"v_cvt_f32_{kind} {{d}}, {{0}}", word, result=np.float32), values, equal_nan=True)
    for k, expected in enumerate(parts):
        actual = evaluate(f"v_cvt_f32_{kind}_sdwa {{d}}, {{0}} src0_sel:BYTE_{k}", word, result=np.float32)
        assert np.array_equal(actual, expected, equal_nan=True)
    for select, low, high in (("", 0, 1), ("_sdwa", 2, 3)):
        chosen = " src0_sel:WORD_1" if select else ""
        actual = evaluate(f"v_cvt_pk_f32_{kind}{select} {{d}}, {{0}}{chosen}", word, result=np.uint64)
        assert np.array_equal(actual.astype(np.uint32).view(np.float32), parts[low], equal_nan=True)
        assert np.array_equal((actual >> np.uint64(32)).astype(np.uint32).view(np.float32), parts[high], equal_nan=True)


def eight_bit_operands(kind: str, count: int) -> Array:
    rng = np.random.default_rng(6)
    exact = np.arange(256).astype(np.uint8).view(EIGHT[kind]).astype(np.float64)
    finite = np.sort(exact[~np.isnan(exact)])
    middle = (finite[1:] + finite[:-1]) / 2
    spread = (rng.standard_normal(count) * 2.0 ** rng.uniform(-22, 18, count)).astype(np.float32)
    ends = np.array([finite.max() * f for f in (1, 1 + 1 / 32, 1 + 1 / 30, 1 + 1 / 16, 1.125, 1.25, 2)])
    x = np.concatenate([finite, middle, ends, -ends]).astype(np.float32)
    near = [x, np.nextafter(x, np.float32(np.inf)), np.nextafter(x, np.float32(-np.inf))]
    return np.concatenate([*near, spread, awkward(SINGLE, count, 1).view(np.float32)])


@pytest.mark.parametrize("kind", EIGHT)
@pytest.mark.parametrize("count", COUNTS)
def test_to_8_bits(kind: str, count: int) -> None:
    a = eight_bit_operands(kind, count)
    b = a[::-1]
    x, y = (v.astype(EIGHT[kind]).view(np.uint8).astype(np.uint32) for v in (a, b))
    text = f"v_cvt_pk_{kind}_f32 {{d}}, {{0}}, {{1}}"
    assert np.array_equal(evaluate(text, a, b, old=0xAABBCCDD), x | y << 8 | 0xAABB0000)
    assert np.array_equal(evaluate(f"{text} op_sel:[0,0,1]", a, b, old=0xAABBCCDD), x << 16 | y << 24 | 0xCCDD)
    most = float(np.array(0x7F, np.uint8).view(EIGHT[kind]))
    bounded = np.where(np.isnan(a), a, np.clip(a, -most, most)).astype(np.float32)
    limited = bounded.astype(EIGHT[kind]).view(np.uint8)
    assert np.array_equal(evaluate(text, a, a, setting=mode(overflow=1)) & 0xFF, limited)


@pytest.mark.parametrize("kind", EIGHT)
def test_to_8_bits_by_chance(kind: str) -> None:
    """Each result is a neighbour of the value, the upper one as often as the value is near it."""
    codes = np.arange(0x7F, dtype=np.uint32)
    values = codes.astype(np.uint8).view(EIGHT[kind]).astype(np.float32)
    upper = (codes + 1).astype(np.uint8).view(EIGHT[kind]).astype(np.float32)
    rng = np.random.default_rng(8)
    share = np.array([0, 0.25, 0.7], np.float32)
    base = np.repeat(np.arange(len(codes)), len(share))
    part = np.tile(share, len(codes))
    x = np.repeat(values[base] + (upper - values)[base] * part, 256)
    noise = np.tile((np.arange(256, dtype=np.uint32) << 24) | 0x800000, len(base))
    for k in range(4):
        op_sel = f" op_sel:[0,0,{k & 1},{k >> 1}]" if k else ""
        sign = np.where(rng.integers(0, 2, len(x)), np.float32(-1), np.float32(1))
        actual = evaluate(f"v_cvt_sr_{kind}_f32 {{d}}, {{0}}, {{1}}{op_sel}", x * sign, noise, old=0x11223344)
        byte = actual >> 8 * k & 0xFF
        assert ((actual ^ 0x11223344) & ~np.uint32(0xFF << 8 * k) == 0).all()
        low = np.repeat(codes[base], 256)
        size = byte & 0x7F
        assert ((size == low) | (size == low + 1)).all()
        assert np.array_equal(byte >> 7, ((sign < 0) & (size > 0)).astype(np.uint32))
        ups = (size != low).reshape(-1, 256).mean(1)
        assert np.abs(ups - part).max() < 0.01
