"""Addition, products, fused products, extremes and rounding of half, single and double, against NumPy and integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.exact_floats import DOUBLE, DOWN, HALF, NEAREST, SINGLE, TO_ZERO, UP, FloatFormat, awkward
from tests.support.instruction_steps import Array, evaluate, mode

FORMATS = {"f16": HALF, "f32": SINGLE, "f64": DOUBLE}
COUNT, LONG_COUNT = 20_000, 1_000_000


@pytest.fixture(params=[COUNT, pytest.param(LONG_COUNT, marks=pytest.mark.long)], ids=["short", "long"])
def count(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def codes(form: FloatFormat, count: int, operands: int) -> list[Array]:
    return [awkward(form, count, seed) for seed in range(operands)]


def settled(form: FloatFormat, result: Array, sources: list[Array]) -> Array:
    """What arithmetic gives where `result` is a NaN: the first source that is one, made quiet, or the default."""
    result = result.view(form.word).copy()
    nan = form.size(result) > form.infinity
    expected = np.where(nan, form.word(form.default_nan), result)
    for source in reversed(sources):
        mask = nan & (form.size(source) > form.infinity)
        expected = np.where(mask, source | form.word(form.quiet), expected)
    return np.asarray(expected.astype(form.word))


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "subrev": lambda a, b: np.subtract(b, a),
    "mul": np.multiply,
}


@pytest.mark.parametrize(
    ("operation", "name"), [(o, n) for n in FORMATS for o in BINARY if n != "f64" or o in ("add", "mul")]
)
@np.errstate(all="ignore")
def test_binary(operation: str, name: str, count: int) -> None:
    form = FORMATS[name]
    a, b = codes(form, count, 2)
    actual = evaluate(f"v_{operation}_{name} {{d}}, {{0}}, {{1}}", a, b, result=form.word)
    sources = [b, a] if operation == "subrev" else [a, b]
    expected = settled(form, BINARY[operation](a.view(form.value), b.view(form.value)), sources)
    assert np.array_equal(actual, expected)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rounding", [NEAREST, UP, DOWN, TO_ZERO])
def test_fused(name: str, rounding: int, count: int) -> None:
    form = FORMATS[name]
    count = count if rounding == NEAREST else count // 10
    a, b, c = codes(form, count, 3)
    setting = None if rounding == NEAREST else mode(single=rounding, double=rounding)
    actual = evaluate(f"v_fma_{name} {{d}}, {{0}}, {{1}}, {{2}}", a, b, c, result=form.word, setting=setting)
    triples = zip(a.tolist(), b.tolist(), c.tolist(), actual.tolist(), strict=True)
    wrong = [t for t in triples if (e := form.fused(*t[:3], rounding)) is not None and e != t[3]]
    assert not wrong


@pytest.mark.parametrize("name", FORMATS)
@np.errstate(all="ignore")
def test_fused_with_special_values(name: str) -> None:
    form = FORMATS[name]
    a, b, c = codes(form, 20_000, 3)
    finite = [(form.size(x) < form.infinity) for x in (a, b, c)]
    is_special = ~(finite[0] & finite[1] & finite[2])
    a, b, c = a[is_special], b[is_special], c[is_special]
    x, y, z = (v.view(form.value).astype(np.float64) for v in (a, b, c))
    actual = evaluate(f"v_fma_{name} {{d}}, {{0}}, {{1}}, {{2}}", a, b, c, result=form.word)
    with_products = np.where(np.isinf(z) & np.isfinite(x) & np.isfinite(y), z, x * y + z).astype(form.value)
    assert np.array_equal(actual, settled(form, with_products, [a, b, c]))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_accumulating_forms(name: str) -> None:
    form = FORMATS[name]
    a, b = codes(form, 5_000, 2)
    old = 0x3F800001
    actual = evaluate(f"v_fmac_{name} {{d}}, {{0}}, {{1}}", a, b, result=form.word, old=old)
    c = np.full(len(a), old | (old << 32 if name == "f64" else 0), form.word)
    assert np.array_equal(actual, evaluate(f"v_fma_{name} {{d}}, {{0}}, {{1}}, {{2}}", a, b, c, result=form.word))


def test_constants_of_fmamk_and_fmaak() -> None:
    a, b = codes(SINGLE, 1_000, 2)
    k = np.full(len(a), 0x40490FDB, np.uint32)
    fused = "v_fma_f32 {d}, {0}, {1}, {2}"
    assert np.array_equal(evaluate("v_fmamk_f32 {d}, {0}, 0x40490fdb, {1}", a, b), evaluate(fused, a, k, b))
    assert np.array_equal(evaluate("v_fmaak_f32 {d}, {0}, {1}, 0x40490fdb", a, b), evaluate(fused, a, b, k))


@pytest.mark.parametrize("rounding", [UP, DOWN, TO_ZERO])
@pytest.mark.parametrize("name", FORMATS)
def test_other_roundings(name: str, rounding: int) -> None:
    form = FORMATS[name]
    a, b = codes(form, 4_000, 2)
    setting = mode(single=rounding, double=rounding)
    actual = evaluate(f"v_mul_{name} {{d}}, {{0}}, {{1}}", a, b, result=form.word, setting=setting)
    zero = [
        0 if (x ^ y) >> (form.bits - 1) == 0 else 1 << (form.bits - 1)
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    expected = [form.fused(x, y, z, rounding) for x, y, z in zip(a.tolist(), b.tolist(), zero, strict=True)]
    assert all(e is None or e == g for e, g in zip(expected, actual.tolist(), strict=True))
    # nothing is left of the rounding afterwards
    plain = evaluate(f"v_mul_{name} {{d}}, {{0}}, {{1}}", a, b, result=form.word, setting=mode())
    assert np.array_equal(plain, evaluate(f"v_mul_{name} {{d}}, {{0}}, {{1}}", a, b, result=form.word))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("kept_denormals", "bits"), [(0, 0), (1, 5), (2, 10)])
@np.errstate(all="ignore")
def test_denormals_that_mode_flushes(name: str, kept_denormals: int, bits: int) -> None:
    form = FORMATS[name]
    a, b = codes(form, 10_000, 2)
    b = np.where(np.arange(len(b)) % 2, b, form.word((form.infinity >> 1) & ~((1 << form.mantissa) - 1)))

    def flush(x: Array) -> Array:
        tiny = (x & form.word(form.infinity)) == 0
        return np.asarray(np.where(tiny, x & form.word(1 << (form.bits - 1)), x).astype(form.word))

    actual = evaluate(f"v_mul_{name} {{d}}, {{0}}, {{1}}", a, b, result=form.word, setting=mode(denormals=bits))
    x, y = (a, b) if kept_denormals & 1 else (flush(a), flush(b))
    expected = settled(form, x.view(form.value) * y.view(form.value), [x, y])
    assert np.array_equal(actual, expected if kept_denormals & 2 else flush(expected))


def extreme(form: FloatFormat, a: int, b: int, greatest: bool, ieee: bool) -> int:
    """The manual's rules, read word by word."""
    for x in (a, b):
        if ieee and form.is_nan(x) and not x & form.quiet:
            return x | form.quiet
    if form.is_nan(a):
        return b
    if form.is_nan(b):
        return a
    x, y = (np.array(v, form.word).view(form.value) for v in (a, b))
    if x == 0 and y == 0:
        return (a & b) if greatest else (a | b)
    return a if (x >= y if greatest else x <= y) else b


def middle(form: FloatFormat, a: int, b: int, c: int, ieee: bool) -> int:
    if any(form.is_nan(x) for x in (a, b, c)):
        return extreme(form, extreme(form, a, b, False, ieee), c, False, ieee)

    def top(x: int, y: int) -> int:
        return extreme(form, x, y, True, ieee)

    most, *values = (np.array(v, form.word).view(form.value) for v in (top(top(a, b), c), a, b))
    return top(b, c) if most == values[0] else top(a, c) if most == values[1] else top(a, b)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("ieee", [True, False])
def test_extremes(name: str, ieee: bool) -> None:
    form = FORMATS[name]
    a, b, c = codes(form, 6_000, 3)
    setting = mode(ieee=ieee)
    rows = list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))

    def check(mnemonic: str, rule: Callable[..., int], operands: int) -> None:
        text = f"v_{mnemonic}_{name} {{d}}, {{0}}, {{1}}" + (", {2}" if operands == 3 else "")
        actual = evaluate(text, *(a, b, c)[:operands], result=form.word, setting=setting)
        assert actual.tolist() == [rule(*row[:operands]) for row in rows], mnemonic

    for word, greatest in (("min", False), ("max", True)):
        check(word, lambda x, y, g=greatest: extreme(form, x, y, g, ieee), 2)
        if name != "f64":
            check(f"{word}3", lambda x, y, z, g=greatest: extreme(form, extreme(form, x, y, g, ieee), z, g, ieee), 3)
    if name != "f64":
        check("med3", lambda x, y, z: middle(form, x, y, z, ieee), 3)


WHOLE: dict[str, Any] = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rndne": np.rint}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("operation", WHOLE)
@pytest.mark.parametrize("rounding", [NEAREST, UP])
@np.errstate(all="ignore")
def test_whole_numbers(operation: str, name: str, rounding: int, count: int) -> None:
    form = FORMATS[name]
    a = np.arange(65536).astype(np.uint16) if name == "f16" else awkward(form, count, 1)
    halves = (np.arange(-50, 50) + 0.5).astype(form.value).view(form.word)
    a = np.concatenate([a, halves])
    setting = mode(single=rounding, double=rounding)
    actual = evaluate(f"v_{operation}_{name} {{d}}, {{0}}", a, result=form.word, setting=setting)
    assert np.array_equal(actual, settled(form, WHOLE[operation](a.view(form.value)), [a]))


@pytest.mark.parametrize("name", FORMATS)
@np.errstate(all="ignore")
def test_fraction(name: str, count: int) -> None:
    form = FORMATS[name]
    a = np.arange(65536).astype(np.uint16) if name == "f16" else awkward(form, count, 1)
    x = a.view(form.value)
    below_one = np.nextafter(form.value(1), form.value(0))
    fraction = x - np.floor(x)
    expected = settled(form, np.where(fraction > below_one, below_one, fraction).astype(form.value), [a])
    assert np.array_equal(evaluate(f"v_fract_{name} {{d}}, {{0}}", a, result=form.word), expected)


@pytest.mark.parametrize("name", FORMATS)
@np.errstate(all="ignore")
def test_mantissa_and_exponent(name: str, count: int) -> None:
    form = FORMATS[name]
    a = np.arange(65536).astype(np.uint16) if name == "f16" else awkward(form, count, 1)
    x = a.view(form.value)
    mantissa, exponent = np.frexp(x)
    actual = evaluate(f"v_frexp_mant_{name} {{d}}, {{0}}", a, result=form.word)
    assert np.array_equal(actual, settled(form, np.where(np.isinf(x), x, mantissa).astype(form.value), [a]))
    kind, integer = ("i16", np.int16) if name == "f16" else ("i32", np.int32)
    actual = evaluate(f"v_frexp_exp_{kind}_{name} {{d}}, {{0}}", a, result=integer)
    assert np.array_equal(actual, np.where(np.isfinite(x) & (x != 0), exponent, 0).astype(integer))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rounding", [NEAREST, UP, DOWN, TO_ZERO])
def test_scaling(name: str, rounding: int) -> None:
    form = FORMATS[name]
    a = awkward(form, 10_000, 1)
    rng = np.random.default_rng(4)
    span = 1 << form.exponent
    by = np.where(
        np.arange(len(a)) % 9, rng.integers(-2 * span, 2 * span, len(a)), rng.integers(-(1 << 15), 1 << 15, len(a))
    )
    actual = evaluate(
        f"v_ldexp_{name} {{d}}, {{0}}, {{1}}",
        a,
        by.astype(np.int16 if name == "f16" else np.int32),
        result=form.word,
        setting=mode(single=rounding, double=rounding),
    )
    for code, n, g in zip(a.tolist(), by.tolist(), actual.tolist(), strict=True):
        if form.is_finite(code):
            m, e = form.exact(code)
            bounded = min(max(n, -6000), 6000)
            assert g == form.rounded((m, e + bounded), rounding, negative_zero=bool(code >> (form.bits - 1)))
        elif form.size(code) == form.infinity:
            assert g == code


@np.errstate(all="ignore")
def test_legacy_product_is_zero_where_a_factor_is() -> None:
    a, b = codes(SINGLE, 20_000, 2)
    x, y = a.view(np.float32), b.view(np.float32)
    expected = np.where((x == 0) | (y == 0), np.uint32(0), settled(SINGLE, x * y, [a, b]))
    assert np.array_equal(evaluate("v_mul_legacy_f32 {d}, {0}, {1}", a, b), expected)


@np.errstate(all="ignore")
def test_product_and_sum_of_halves_that_round_twice() -> None:
    a, b, c = codes(HALF, 20_000, 3)

    def flush(x: Array) -> Array:
        return np.where(np.abs(x) < np.float16(2**-14), np.copysign(np.float16(0), x), x).astype(np.float16)

    x, y, z = (flush(v.view(np.float16)) for v in (a, b, c))
    sums = flush(flush(x * y) + z)
    old = 0x55550000
    actual = evaluate("v_mad_f16 {d}, {0}, {1}, {2}", a, b, c, old=old)
    legacy = evaluate("v_mad_legacy_f16 {d}, {0}, {1}, {2}", a, b, c, old=old)
    number = ~np.isnan(sums)
    assert np.array_equal((actual & 0xFFFF)[number], sums.view(np.uint16)[number])
    assert (actual >> 16 == 0x5555).all()
    assert np.array_equal(legacy, actual & 0xFFFF)
    fused, legacy = (evaluate(f"v_fma_{n}f16 {{d}}, {{0}}, {{1}}, {{2}}", a, b, c, old=old) for n in ("", "legacy_"))
    assert np.array_equal(legacy, fused & 0xFFFF)


CUBE: dict[str, Callable[..., Array]] = {
    "cubeid": lambda x, y, z, on_z, on_y: np.where(on_z, 4 + (z < 0), np.where(on_y, 2 + (y < 0), x < 0)),
    "cubesc": lambda x, y, z, on_z, on_y: np.where(
        on_z, np.where(z < 0, -x, x), np.where(on_y, x, np.where(x < 0, z, -z))
    ),
    "cubetc": lambda x, y, z, on_z, on_y: np.where(on_z, -y, np.where(on_y, np.where(y < 0, -z, z), -y)),
    "cubema": lambda x, y, z, on_z, on_y: np.where(on_z, z, np.where(on_y, y, x)) * 2,
}


@pytest.mark.parametrize("name", CUBE)
def test_cube_maps(name: str) -> None:
    rng = np.random.default_rng(3)
    x, y, z = rng.standard_normal((3, 5_000)).astype(np.float32)
    on_z, on_y = (np.abs(z) >= np.abs(x)) & (np.abs(z) >= np.abs(y)), np.abs(y) >= np.abs(x)
    actual = evaluate(f"v_{name}_f32 {{d}}, {{0}}, {{1}}, {{2}}", x, y, z, result=np.float32)
    assert np.array_equal(actual, CUBE[name](x, y, z, on_z, on_y).astype(np.float32))
