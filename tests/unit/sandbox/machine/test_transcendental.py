"""Exponentials, logarithms, roots, reciprocals and circular functions within AMD's documented errors; divisions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.exact_floats import DOUBLE, HALF, SINGLE, FloatFormat, awkward
from tests.support.instruction_steps import Array, evaluate, mode

NAN, INFINITY, MINUS = 0xFFC00000, 0x7F800000, 0x80000000
DOMAIN: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "exp": (np.exp2, lambda x: x),
    "log": (np.log2, np.abs),
    "rcp": (lambda x: 1 / x, lambda x: x),
    "rsq": (lambda x: 1 / np.sqrt(x), np.abs),
    "sqrt": (np.sqrt, np.abs),
}


def distance(form: FloatFormat, actual: Array, exact: Array) -> float:
    """The largest error in units of the last place, of normal results."""
    least = math.ldexp(1, form.least + form.mantissa)
    exponent = np.frexp(exact)[1]
    unit = np.ldexp(1.0, exponent - 1 - form.mantissa)
    largest = float(np.finfo(form.value).max)
    normal = np.isfinite(exact) & (np.abs(exact) >= least) & (np.abs(exact) <= largest)
    return float((np.abs(actual.astype(np.float64) - exact) / unit)[normal].max())


def flushed(codes: Array) -> Array:
    return np.where(codes & np.uint32(INFINITY), codes, codes & np.uint32(MINUS)).astype(np.uint32)


@pytest.mark.parametrize("name", DOMAIN)
@pytest.mark.parametrize("count", [40_000, pytest.param(2_000_000, marks=pytest.mark.long)])
@np.errstate(all="ignore")
def test_single_within_one_unit(name: str, count: int) -> None:
    function, domain = DOMAIN[name]
    rng = np.random.default_rng(1)
    ordinary = (rng.standard_normal(count) * 2.0 ** rng.uniform(-8, 6, count)).astype(np.float32)
    near_one = (1 + rng.standard_normal(count) * 2.0 ** rng.uniform(-24, -2, count)).astype(np.float32)
    a = flushed(
        domain(np.concatenate([awkward(SINGLE, count, 1).view(np.float32), ordinary, near_one])).view(np.uint32)
    )
    x = a.view(np.float32)
    x = x[~np.isnan(x)]
    actual = evaluate(f"v_{name}_f32 {{d}}, {{0}}", x, result=np.float32)
    exact = function(x.astype(np.float64))
    assert distance(SINGLE, actual, exact) < 1
    tiny = np.abs(exact) < 2.0**-126 * (1 - 2.0**-20)
    assert (actual[tiny] == 0).all()
    assert np.isinf(actual[np.abs(exact) >= 2.0**128]).all()


@pytest.mark.parametrize("name", DOMAIN)
@np.errstate(all="ignore")
def test_every_half(name: str) -> None:
    a = np.arange(65536).astype(np.uint16)
    exact = DOMAIN[name][0](a.view(np.float16).astype(np.float64))
    actual = evaluate(f"v_{name}_f16 {{d}}, {{0}}", a, result=np.float16)
    rounded = exact.astype(np.float16)
    number = ~np.isnan(exact)
    assert np.isnan(actual[~number]).all()
    steps = np.abs(actual.view(np.int16).astype(int) - rounded.view(np.int16).astype(int))[number]
    assert steps.max() <= 1
    assert (steps != 0).mean() < 1e-4


@pytest.mark.parametrize("name", ["rcp", "rsq", "sqrt"])
@np.errstate(all="ignore")
def test_double_within_its_coarse_bound(name: str) -> None:
    function, domain = DOMAIN[name]
    a = domain(awkward(DOUBLE, 20_000, 1).view(np.float64))
    a = a[~np.isnan(a)]
    actual = evaluate(f"v_{name}_f64 {{d}}, {{0}}", a, result=np.float64)
    exact = function(a)
    assert distance(DOUBLE, actual, exact) < 2**29
    special = ~np.isfinite(exact) | (exact == 0)
    assert np.array_equal(actual[special], exact[special])
    assert (actual != exact).mean() > 0.2  # so that code without its Newton steps is off


SPECIAL = {
    "exp": {0xFF800000: 0, INFINITY: INFINITY, MINUS: 0x3F800000, 0: 0x3F800000, 0xC2FC0000: 0x00800000, 0xC2FC0001: 0},
    "log": {0xFF800000: NAN, 0xBF800000: NAN, MINUS: 0xFF800000, 0: 0xFF800000, 1: 0xFF800000, 0x3F800000: 0},
    "rcp": {0xFF800000: MINUS, INFINITY: 0, MINUS: 0xFF800000, 0: INFINITY, 1: INFINITY, 0x7F7FFFFF: 0},
    "rsq": {0xFF800000: NAN, INFINITY: 0, MINUS: 0xFF800000, 0: INFINITY, 1: INFINITY, 0x40800000: 0x3F000000},
    "sqrt": {0xFF800000: NAN, INFINITY: INFINITY, MINUS: MINUS, 0x80000001: MINUS, 1: 0, 0xBF800000: NAN},
    "sin": {0xFF800000: NAN, INFINITY: NAN, MINUS: MINUS, 0: 0, 0xFF7FFFFF: 0, 0x3E800000: 0x3F800000, 0x43808000: 0},
    "cos": {0xFF800000: NAN, MINUS: 0x3F800000, 0x3E800000: 0, 0x3F000000: 0xBF800000, 0x43808000: 0x3F800000},
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name: str) -> None:
    cases = {**SPECIAL[name], 0x7FC00123: 0x7FC00123, 0x7F800001: 0x7FC00001}
    actual = evaluate(f"v_{name}_f32 {{d}}, {{0}}", np.array(list(cases), np.uint32))
    assert [hex(x) for x in actual.tolist()] == [hex(x) for x in cases.values()]


@pytest.mark.parametrize(("name", "function"), [("sin", np.sin), ("cos", np.cos)])
@pytest.mark.parametrize("form", [HALF, SINGLE], ids=["f16", "f32"])
def test_circular_functions(name: str, function: Any, form: FloatFormat) -> None:
    rng = np.random.default_rng(1)
    x = (rng.uniform(-1, 1, 40_000) * 2.0 ** rng.uniform(-20, 8, 40_000)).astype(form.value)
    actual = evaluate(f"v_{name}_{'f16' if form is HALF else 'f32'} {{d}}, {{0}}", x, result=form.value)
    turns = x.astype(np.float64)
    exact = function(2 * np.pi * (turns - np.rint(turns)))
    assert np.abs(actual.astype(np.float64) - exact).max() <= 0.51 * 2.0 ** -(form.mantissa + 1)
    quarters = (np.arange(-40, 40) / 4).astype(form.value)
    actual = evaluate(f"v_{name}_{'f16' if form is HALF else 'f32'} {{d}}, {{0}}", quarters, result=form.value)
    assert np.array_equal(actual, np.round(function(2 * np.pi * quarters.astype(np.float64))).astype(form.value))


def test_transcendental_results_do_not_depend_on_rounding() -> None:
    x = awkward(SINGLE, 4_000, 1)
    for name in SPECIAL:
        text = f"v_{name}_f32 {{d}}, {{0}}"
        assert np.array_equal(evaluate(text, x, setting=mode(single=1, double=2)), evaluate(text, x)), name


DIVISION = """v_div_scale_f32 v40, s[10:11], {1}, {1}, {0}
v_rcp_f32_e32 v41, v40
v_div_scale_f32 v42, vcc, {0}, {1}, {0}
v_fma_f32 v43, -v40, v41, 1.0
v_fmac_f32_e32 v41, v43, v41
v_mul_f32_e32 v43, v42, v41
v_fma_f32 v44, -v40, v43, v42
v_fmac_f32_e32 v43, v44, v41
v_fma_f32 v40, -v40, v43, v42
v_div_fmas_f32 v40, v40, v41, v43
v_div_fixup_f32 {d}, v40, {1}, {0}"""
DOUBLE_DIVISION = """v_div_scale_f64 v[40:41], s[10:11], {1}, {1}, {0}
v_rcp_f64_e32 v[42:43], v[40:41]
s_nop 0
v_fma_f64 v[44:45], -v[40:41], v[42:43], 1.0
v_fmac_f64_e32 v[42:43], v[42:43], v[44:45]
v_fma_f64 v[44:45], -v[40:41], v[42:43], 1.0
v_fmac_f64_e32 v[42:43], v[42:43], v[44:45]
v_div_scale_f64 v[44:45], vcc, {0}, {1}, {0}
v_mul_f64 v[46:47], v[44:45], v[42:43]
v_fma_f64 v[40:41], -v[40:41], v[46:47], v[44:45]
s_nop 1
v_div_fmas_f64 v[40:41], v[40:41], v[42:43], v[46:47]
v_div_fixup_f64 {d}, v[40:41], {1}, {0}"""


@pytest.mark.parametrize(("form", "text"), [(SINGLE, DIVISION), (DOUBLE, DOUBLE_DIVISION)], ids=["f32", "f64"])
@pytest.mark.parametrize("count", [40_000, pytest.param(1_000_000, marks=pytest.mark.long)])
@np.errstate(all="ignore")
def test_compiled_divisions_are_rounded_right(form: FloatFormat, text: str, count: int) -> None:
    """The sequence that LLVM makes of x / y, over all exponents: each step has to fit the others."""
    rng = np.random.default_rng(2)
    n, d = (
        np.concatenate([awkward(form, count, s), rng.integers(0, 2**64, count, np.uint64).astype(form.word)])
        for s in (1, 2)
    )
    x, y = n.view(form.value), d.view(form.value)
    actual = evaluate(text, x, y, result=form.word)
    exact = x / y
    number = ~np.isnan(exact)
    assert np.array_equal(actual[number], exact.view(form.word)[number])
    default = ~number & ~np.isnan(x) & ~np.isnan(y)
    assert (actual[default] == form.default_nan).all()
    assert np.array_equal(actual[np.isnan(x)], n[np.isnan(x)] | form.word(form.quiet))


def test_half_division_is_fixed_up() -> None:
    n, d, q = (awkward(HALF, 20_000, s) for s in (1, 2, 3))
    x, y = n.view(np.float16), d.view(np.float16)
    actual = evaluate("v_div_fixup_f16 {d}, {0}, {1}, {2}", q, d, n, old=0x12340000)
    with np.errstate(all="ignore"):
        special = (x / y).view(np.uint16)
    ordinary = np.isfinite(x) & np.isfinite(y) & (x != 0) & (y != 0)
    signed = (q & 0x7FFF) | ((n ^ d) & 0x8000)
    number = ~np.isnan(special.view(np.float16))
    assert np.array_equal(actual[ordinary] & 0xFFFF, signed[ordinary])
    assert np.array_equal((actual & 0xFFFF)[~ordinary & number], special[~ordinary & number])
    assert (actual >> 16 == 0x1234).all()
    assert (evaluate("v_div_fixup_legacy_f16 {d}, {0}, {1}, {2}", q, d, n, old=0x12340000) >> 16 == 0).all()


def two_over_pi() -> int:
    """The first 1201 binary digits of 2 / pi behind the point, by Machin's formula."""
    bits = 1400

    def arctangent(n: int) -> int:
        term, total, k, sign = (1 << bits) // n, 0, 1, 1
        while term:
            total, term, k, sign = total + sign * (term // k), term // (n * n), k + 2, -sign
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    return ((2 << 2 * bits) // pi) >> (bits - 1201)


def test_segments_of_two_over_pi() -> None:
    digits = two_over_pi() << 4000
    exponents = np.array([1000, 1023, 1077, 1078, 1100, 1500, 1967, 1968, 2046], np.uint64)
    x = np.repeat(exponents << np.uint64(52), 23)
    segment = np.tile(np.arange(23, dtype=np.uint32), len(exponents))
    actual = evaluate("v_trig_preop_f64 {d}, {0}, {1}", x, segment, result=np.float64)
    for field, part, value in zip((x >> np.uint64(52)).tolist(), segment.tolist(), actual.tolist(), strict=True):
        shift = part * 53 + max(field - 1077, 0)
        segment_bits = (digits >> (1201 + 4000 - 53 - shift)) & ((1 << 53) - 1)
        assert value == math.ldexp(segment_bits, -53 - shift + (128 if field >= 1968 else 0))
