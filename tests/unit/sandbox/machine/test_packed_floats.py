"""Packed instructions, mixed multiply-adds and dot products, with op_sel, negation and clamp, against NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.exact_floats import HALF, SINGLE, awkward
from tests.support.instruction_steps import Array, evaluate, mode

COUNTS = [20_000, pytest.param(1_000_000, marks=pytest.mark.long)]


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def pairs(count: int, operands: int) -> list[Array]:
    """Words of two awkward halves each."""
    halves = [awkward(HALF, count, 2 * k + j).astype(np.uint32) for k in range(operands) for j in (0, 1)]
    return [halves[2 * k] | halves[2 * k + 1] << 16 for k in range(operands)]


def lower(text: str, *operands: Array) -> Array:
    """What the instruction for one half makes of lower halves; its own tests say whether that is right."""
    return evaluate(text, *((x & 0xFFFF).astype(np.uint16) for x in operands)) & 0xFFFF


def selected(operands: list[Array], low: tuple[int, ...], high: tuple[int, ...]) -> list[Array]:
    """The operands with the halves in place that op_sel and op_sel_hi choose."""
    return [(x >> 16 * a & 0xFFFF) | (x >> 16 * b & 0xFFFF) << 16 for x, a, b in zip(operands, low, high, strict=True)]


HALVES = {"add": 2, "mul": 2, "min": 2, "max": 2, "fma": 3}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", HALVES)
def test_halves(name: str, count: int) -> None:
    operands = pairs(count, HALVES[name])
    operand_slots = ", ".join(f"{{{k}}}" for k in range(len(operands)))
    actual = evaluate(f"v_pk_{name}_f16 {{d}}, {operand_slots}", *operands)
    single = f"v_{name}_f16 {{d}}, {operand_slots}"
    expected = lower(single, *operands) | lower(single, *(x >> 16 for x in operands)) << 16
    assert np.array_equal(actual, expected)


@pytest.mark.parametrize("setting", [mode(double=1), mode(denormals=3), mode(double=3, ieee=0)])
@pytest.mark.parametrize("name", HALVES)
def test_halves_as_mode_says(name: str, setting: int) -> None:
    operands = pairs(4_000, HALVES[name])
    operand_slots = ", ".join(f"{{{k}}}" for k in range(len(operands)))
    actual = evaluate(f"v_pk_{name}_f16 {{d}}, {operand_slots}", *operands, setting=setting)
    for shift in (0, 16):
        halves = [(x >> shift & 0xFFFF).astype(np.uint16) for x in operands]
        expected = evaluate(f"v_{name}_f16 {{d}}, {operand_slots}", *halves, setting=setting) & 0xFFFF
        assert np.array_equal(actual >> shift & 0xFFFF, expected)


def test_halves_chosen_and_negated() -> None:
    operands = pairs(1_000, 2)
    plain = "v_pk_add_f16 {d}, {0}, {1}"
    for low, high, neg_lo, neg_hi in itertools.product(itertools.product((0, 1), repeat=2), repeat=4):
        text = f"{plain} op_sel:{[*low]} op_sel_hi:{[*high]} neg_lo:{[*neg_lo]} neg_hi:{[*neg_hi]}"
        flips = [np.uint32(a << 15 | b << 31) for a, b in zip(neg_lo, neg_hi, strict=True)]
        arranged = [x ^ f for x, f in zip(selected(operands, low, high), flips, strict=True)]
        assert np.array_equal(evaluate(text, *operands), evaluate(plain, *arranged)), text


def test_clamp_of_halves() -> None:
    a, b = pairs(20_000, 2)
    sums = evaluate("v_pk_add_f16 {d}, {0}, {1}", a, b)
    actual = evaluate("v_pk_add_f16 {d}, {0}, {1} clamp", a, b)
    unclamped = evaluate("v_pk_add_f16 {d}, {0}, {1} clamp", a, b, setting=mode(dx10=0))
    for shift in (0, 16):
        x = (sums >> shift & 0xFFFF).astype(np.uint16).view(np.float16)
        bounded = np.where(np.isnan(x), np.float16(0), np.clip(x, np.float16(0), np.float16(1)) + np.float16(0))
        assert np.array_equal((actual >> shift & 0xFFFF).astype(np.uint16).view(np.float16), bounded)
        nan = np.isnan(x)
        assert np.array_equal((unclamped >> shift & 0xFFFF)[nan], (sums >> shift & 0xFFFF)[nan])


INTEGERS: dict[str, tuple[int, Callable[..., Array]]] = {
    "add_{}": (2, lambda a, b: a + b),
    "sub_{}": (2, lambda a, b: a - b),
    "mad_{}": (3, lambda a, b, c: a * b + c),
    "min_{}": (2, np.minimum),
    "max_{}": (2, np.maximum),
}


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("integer", [np.int16, np.uint16])
@pytest.mark.parametrize("clamp", ["", " clamp"])
def test_integers(name: str, integer: type, clamp: str) -> None:
    count, function = INTEGERS[name]
    operands = awkward_words(20_000, count, 5)
    kind = "i16" if integer is np.int16 else "u16"
    operand_slots = ", ".join(f"{{{k}}}" for k in range(count))
    actual = evaluate(f"v_pk_{name.format(kind)} {{d}}, {operand_slots}{clamp}", *operands)
    about = np.iinfo(integer)
    for shift in (0, 16):
        exact = function(*((x >> shift).astype(np.uint16).view(integer).astype(np.int64) for x in operands))
        expected = np.clip(exact, about.min, about.max) if clamp else exact
        assert np.array_equal(actual >> shift & 0xFFFF, expected & 0xFFFF)


def test_products_and_shifts_of_integers() -> None:
    a, b = awkward_words(20_000, 2, 6)
    cases: dict[str, Callable[[Array, Array], Array]] = {
        "mul_lo_u16": lambda x, y: x * y,
        "lshlrev_b16": lambda x, y: y << (x & 15),
        "lshrrev_b16": lambda x, y: y >> (x & 15),
        "ashrrev_i16": lambda x, y: y.astype(np.uint16).view(np.int16).astype(np.int64) >> (x & 15),
    }
    for name, function in cases.items():
        actual = evaluate(f"v_pk_{name} {{d}}, {{0}}, {{1}}", a, b)
        for shift in (0, 16):
            x, y = ((v >> shift & 0xFFFF).astype(np.int64) for v in (a, b))
            assert np.array_equal(actual >> shift & 0xFFFF, function(x, y) & 0xFFFF), name


def single_pairs(count: int, operands: int) -> list[Array]:
    parts = [awkward(SINGLE, count, k).astype(np.uint64) for k in range(2 * operands)]
    return [parts[2 * k] | parts[2 * k + 1] << np.uint64(32) for k in range(operands)]


@pytest.mark.parametrize(("name", "count"), [("add", 2), ("mul", 2), ("fma", 3)])
def test_singles(name: str, count: int) -> None:
    operands = single_pairs(2_000, count)
    operand_slots = ", ".join(f"{{{k}}}" for k in range(count))
    for low, high in itertools.product(itertools.product((0, 1), repeat=count), repeat=2):
        negated = (1, 0, 1)[:count], (0, 1, 1)[:count]
        text = f"v_pk_{name}_f32 {{d}}, {operand_slots} op_sel:{[*low]} op_sel_hi:{[*high]}"
        text += f" neg_lo:{[*negated[0]]} neg_hi:{[*negated[1]]}"
        actual = evaluate(text, *operands, result=np.uint64)
        for half, (chosen, signs) in enumerate(zip((low, high), negated, strict=True)):
            parts = [
                (x >> np.uint64(32 * c)).astype(np.uint32) ^ np.uint32(s << 31)
                for x, c, s in zip(operands, chosen, signs, strict=True)
            ]
            expected = evaluate(f"v_{name}_f32 {{d}}, {operand_slots}", *parts)
            assert np.array_equal((actual >> np.uint64(32 * half)).astype(np.uint32), expected), text


def test_singles_moved() -> None:
    a, b = single_pairs(500, 2)
    for x, y in itertools.product((0, 1), repeat=2):
        actual = evaluate(f"v_pk_mov_b32 {{d}}, {{0}}, {{1}} op_sel:[{x},{y}]", a, b, result=np.uint64)
        words = (a >> np.uint64(32 * x)) & np.uint64(0xFFFFFFFF), (b >> np.uint64(32 * y)) << np.uint64(32)
        assert np.array_equal(actual, words[0] | words[1])


def test_multiply_adds_of_mixed_formats() -> None:
    words = [*pairs(3_000, 2), awkward(SINGLE, 3_000, 9)]
    for half, position in itertools.product(itertools.product((0, 1), repeat=3), repeat=2):
        chosen = [
            (x >> 16 * p).astype(np.uint16).view(np.float16).astype(np.float32) if h else x.view(np.float32)
            for x, h, p in zip(words, half, position, strict=True)
        ]
        parts = [-chosen[0], np.abs(chosen[1]), -np.abs(chosen[2])]
        modifiers = f"op_sel:{[*position]} op_sel_hi:{[*half]}"
        actual = evaluate(f"v_fma_mix_f32 {{d}}, -{{0}}, |{{1}}|, -|{{2}}| {modifiers}", *words)
        exact = evaluate("v_fma_f32 {d}, {0}, {1}, {2}", *parts)
        number = ~np.isnan(exact.view(np.float32))
        assert np.array_equal(actual[number], exact[number])
        assert np.isnan(actual.view(np.float32)[~number]).all()
        narrow = exact.view(np.float32).astype(np.float16).view(np.uint16).astype(np.uint32)[number]
        low = evaluate(f"v_fma_mixlo_f16 {{d}}, -{{0}}, |{{1}}|, -|{{2}}| {modifiers}", *words, old=0x12345678)
        high = evaluate(f"v_fma_mixhi_f16 {{d}}, -{{0}}, |{{1}}|, -|{{2}}| {modifiers}", *words, old=0x12345678)
        assert np.array_equal(low[number], narrow | 0x12340000)
        assert np.array_equal(high[number], narrow << 16 | 0x5678)


def test_packed_halves_of_one_register() -> None:
    a, b = pairs(500, 2)
    for x, y in itertools.product((0, 1), repeat=2):
        actual = evaluate(f"v_pack_b32_f16 {{d}}, {{0}}, {{1}} op_sel:[{x},{y},0]", a, b)
        assert np.array_equal(actual, (a >> 16 * x & 0xFFFF) | (b >> 16 * y & 0xFFFF) << 16)


def elements(words: Array, bits: int, signed: bool) -> list[Array]:
    raw = [words.astype(np.int64) >> bits * k & ((1 << bits) - 1) for k in range(32 // bits)]
    return [np.where(x >> (bits - 1), x - (1 << bits), x) if signed else x for x in raw]


@pytest.mark.parametrize("clamp", ["", " clamp"])
@pytest.mark.parametrize(
    ("name", "bits", "signed"),
    [
        ("dot2_i32_i16", 16, True),
        ("dot2_u32_u16", 16, False),
        ("dot4_i32_i8", 8, True),
        ("dot4_u32_u8", 8, False),
        ("dot8_i32_i4", 4, True),
        ("dot8_u32_u4", 4, False),
    ],
)
def test_dot_products_of_integers(name: str, bits: int, signed: bool, clamp: str) -> None:
    a, b, c = awkward_words(20_000, 3, 7)
    products = zip(elements(a, bits, signed), elements(b, bits, signed), strict=True)
    total = elements(c, 32, signed)[0] + sum(x * y for x, y in products)
    about = np.iinfo(np.int32 if signed else np.uint32)
    expected = np.clip(total, about.min, about.max) if clamp else total
    actual = evaluate(f"v_{name} {{d}}, {{0}}, {{1}}, {{2}}{clamp}", a, b, c)
    assert np.array_equal(actual, expected.astype(np.uint64).astype(np.uint32))


@pytest.mark.parametrize("name", ["dot2c_i32_i16", "dot4c_i32_i8", "dot8c_i32_i4"])
def test_accumulating_dot_products(name: str) -> None:
    a, b = awkward_words(2_000, 2, 7)
    old = np.full(len(a), 0x7FFFFF00, np.uint32)
    actual = evaluate(f"v_{name} {{d}}, {{0}}, {{1}}", a, b, old=0x7FFFFF00)
    assert np.array_equal(actual, evaluate(f"v_{name.replace('c_', '_')} {{d}}, {{0}}, {{1}}, {{2}}", a, b, old))


def test_dot_product_of_halves() -> None:
    a, b = pairs(20_000, 2)
    c = awkward(SINGLE, 20_000, 8)

    def flush(x: Array) -> Array:
        return np.where(np.abs(x) < np.float32(2**-126), np.copysign(np.float32(0), x), x)

    (p, q), (r, s) = ([(x >> k).astype(np.uint16).view(np.float16).astype(np.float32) for k in (0, 16)] for x in (a, b))
    exact = flush(flush(flush(c.view(np.float32)) + p * r) + q * s)
    actual = evaluate("v_dot2_f32_f16 {d}, {0}, {1}, {2}", a, b, c, result=np.float32)
    assert np.array_equal(actual, exact, equal_nan=True)
    swapped = evaluate("v_dot2_f32_f16 {d}, {0}, {1}, {2} neg_lo:[1,0,0] neg_hi:[0,1,0]", a, b, c, result=np.float32)
    assert np.array_equal(swapped, flush(flush(flush(c.view(np.float32)) - p * r) - q * s), equal_nan=True)
    sums = evaluate("v_dot2c_f32_f16 {d}, {0}, {1}", a, b, old=0x3F800000, result=np.float32)
    assert np.array_equal(sums, flush(flush(np.float32(1) + p * r) + q * s), equal_nan=True)


def test_constants_and_scalar_pairs_of_packed_instructions() -> None:
    (a,) = pairs(500, 1)
    ones, two = np.full(len(a), 0x3C003C00, np.uint32), np.full(len(a), 0x40000000, np.uint64)
    plain = evaluate("v_pk_add_f16 {d}, {0}, {1}", a, ones)
    assert np.array_equal(evaluate("v_pk_add_f16 {d}, {0}, 1.0 op_sel_hi:[1,0]", a), plain)
    counted = evaluate("v_pk_add_u16 {d}, {0}, {1}", a, np.full(len(a), 0x00050005, np.uint32))
    assert np.array_equal(evaluate("v_pk_add_u16 {d}, {0}, 5 op_sel_hi:[1,0]", a), counted)
    (x,) = single_pairs(500, 1)
    doubled = evaluate("v_pk_mul_f32 {d}, {0}, {1}", x, two | two << np.uint64(32), result=np.uint64)
    assert np.array_equal(evaluate("v_pk_mul_f32 {d}, {0}, 2.0 op_sel_hi:[1,0]", x, result=np.uint64), doubled)
    literal = evaluate("v_pk_mul_f32 {d}, {0}, {1}", x, two | two << np.uint64(32), result=np.uint64)
    scalars = "s_mov_b32 s10, 0x40000000\ns_mov_b32 s11, 0x3f000000\n"
    actual = evaluate(scalars + "v_pk_mul_f32 {d}, {0}, s[10:11] op_sel_hi:[1,0]", x, result=np.uint64)
    assert np.array_equal(actual, literal)
    halved = np.full(len(x), 0x3F000000_40000000, np.uint64)
    actual = evaluate(scalars + "v_pk_mul_f32 {d}, {0}, s[10:11]", x, result=np.uint64)
    assert np.array_equal(actual, evaluate("v_pk_mul_f32 {d}, {0}, {1}", x, halved, result=np.uint64))
