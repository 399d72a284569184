"""How operands are read and results written: DPP, SDWA, clamp, omod, halves, EXEC, and which bytes are defined."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.exact_floats import DOUBLE, HALF, SINGLE, awkward
from tests.support.instruction_steps import EXEC, VCC, Array, evaluate, mode, run

LANES, ALL = np.arange(64), 0xFFFFFFFF
ROW, PLACE = LANES & ~15, LANES & 15
NOWHERE = -1


def shifted(by: int) -> Array:
    inside = (PLACE + by >= 0) & (PLACE + by < 16)
    return np.where(inside, LANES + by, NOWHERE)


CONTROLS: dict[str, Array] = {
    "quad_perm:[3,0,2,1]": (LANES & ~3) | np.array([3, 0, 2, 1])[LANES & 3],
    **{f"row_shl:{n}": shifted(n) for n in (1, 7, 15)},
    **{f"row_shr:{n}": shifted(-n) for n in (1, 8, 15)},
    **{f"row_ror:{n}": ROW | (PLACE - n) & 15 for n in (1, 5, 15)},
    "wave_shl:1": np.where(LANES < 63, LANES + 1, NOWHERE),
    "wave_rol:1": (LANES + 1) & 63,
    "wave_shr:1": np.where(LANES > 0, LANES - 1, NOWHERE),
    "wave_ror:1": (LANES - 1) & 63,
    "row_mirror": ROW | (15 - PLACE),
    "row_half_mirror": (LANES & ~7) | (7 - (LANES & 7)),
    "row_bcast:15": np.where(LANES >= 16, ROW - 1, NOWHERE),
    "row_bcast:31": np.where(LANES >= 32, 31, NOWHERE),
    "row_newbcast:5": ROW | 5,
}


def lanes_of(mask: int) -> Array:
    return np.array([mask >> lane & 1 for lane in range(64)], bool)


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("exec_mask", [2**64 - 1, 0x00FF_F0F0_7FFF_3C01])
@pytest.mark.parametrize("control", CONTROLS)
def test_dpp(control: str, exec_mask: int, bound: bool) -> None:
    a, b, old = (x.reshape(4, 64) for x in awkward_words(256, 3, 1))
    executed = lanes_of(exec_mask)
    source = CONTROLS[control]
    valid = (source != NOWHERE) & executed[source]
    moved = np.where(valid, a[:, source], 0)
    for row_mask, bank_mask in ((15, 15), (10, 15), (15, 6)):
        allowed = (row_mask >> (LANES // 16) & 1) & (bank_mask >> (LANES // 4 % 4) & 1) == 1
        is_written = executed & allowed & (valid | bound)
        text = f"v_add_u32_dpp v3, v1, v2 {control} row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}"
        masks = [np.full(4, exec_mask >> 32 * k & ALL, np.uint32) for k in (0, 1)]
        inputs = {1: a, 2: b, 3: old, EXEC: masks[0], EXEC + 1: masks[1]}
        defined = {k: (x, np.full_like(x, ALL)) for k, x in inputs.items()}
        ((actual, _),), reported = run([text + (" bound_ctrl:1" if bound else "")], defined, [3])
        assert np.array_equal(actual, np.where(is_written, moved + b, old)), text
        assert not reported.any(), "what the reader of a lane that EXEC masks off gets is certain"


def test_dpp_of_swapped_sources_is_on_the_first_of_the_text() -> None:
    a, b = (x.reshape(2, 64) for x in awkward_words(128, 2, 1))
    defined = {k: (x, np.full_like(x, ALL)) for k, x in ((1, a), (2, b))}
    text = "v_subrev_u32_dpp v3, v1, v2 row_mirror row_mask:0xf bank_mask:0xf"
    ((actual, _),), _ = run([text], defined, [3])
    assert np.array_equal(actual, b - a[:, CONTROLS["row_mirror"]])


def test_dpp_of_floats_applies_modifiers_after_the_move() -> None:
    a, b = (awkward(SINGLE, 64, s).reshape(1, 64) for s in (1, 2))
    defined = {k: (x, np.full_like(x, ALL)) for k, x in ((1, a), (2, b))}
    ((actual, _),), _ = run(["v_max_f32_dpp v3, -|v1|, v2 row_ror:3 row_mask:0xf bank_mask:0xf"], defined, [3])
    moved = a[0, ROW | (PLACE - 3) & 15] | np.uint32(0x80000000)
    assert np.array_equal(actual[0], evaluate("v_max_f32 {d}, {0}, {1}", moved, b[0]))


def test_dpp_of_doubles() -> None:
    words = [x.reshape(2, 64) for x in awkward_words(128, 2, 1)]
    defined = {k: (x, np.full_like(x, ALL)) for k, x in zip((2, 3), words, strict=True)}
    text = "v_mov_b64_dpp v[4:5], v[2:3] row_newbcast:7 row_mask:0xf bank_mask:0xf"
    after, _ = run([text], defined, [4, 5])
    for (actual, _), x in zip(after, words, strict=True):
        assert np.array_equal(actual, x[:, ROW | 7])


SELECTS: dict[str, Callable[[Array, bool], Array]] = {
    "DWORD": lambda x, _: x,
    **{f"BYTE_{k}": lambda x, s, k=k: narrowed(x >> 8 * k, 8, s) for k in range(4)},  # type: ignore[misc]
    **{f"WORD_{k}": lambda x, s, k=k: narrowed(x >> 16 * k, 16, s) for k in range(2)},  # type: ignore[misc]
}


def narrowed(x: Array, bits: int, signed: bool) -> Array:
    value = x.astype(np.int64) & ((1 << bits) - 1)
    if signed:
        value = np.where(value >> (bits - 1), value - (1 << bits), value)
    return value.astype(np.uint64).astype(np.uint32)


@pytest.mark.parametrize("select", SELECTS)
@pytest.mark.parametrize("signed", [False, True])
def test_sdwa_sources(select: str, signed: bool) -> None:
    a, b = awkward_words(2_000, 2, 1)
    operand = "sext({0})" if signed else "{0}"
    text = (
        f"v_add_u32_sdwa {{d}}, {operand}, {{1}} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{select} src1_sel:WORD_1"
    )
    assert np.array_equal(evaluate(text, a, b), SELECTS[select](a, signed) + (b >> 16))


PLACES = {
    "BYTE_0": (0, 8),
    "BYTE_1": (8, 8),
    "BYTE_2": (16, 8),
    "BYTE_3": (24, 8),
    "WORD_0": (0, 16),
    "WORD_1": (16, 16),
}


@pytest.mark.parametrize("selection", PLACES)
@pytest.mark.parametrize("unused", ["PAD", "SEXT", "PRESERVE"])
def test_sdwa_results(selection: str, unused: str) -> None:
    a, b = awkward_words(2_000, 2, 1)
    old, (first, bits) = 0xC3A5_7E81, PLACES[selection]
    modifiers = f"dst_sel:{selection} dst_unused:UNUSED_{unused} src0_sel:DWORD src1_sel:DWORD"
    text = f"v_add_u32_sdwa {{d}}, {{0}}, {{1}} {modifiers}"
    actual = evaluate(text, a, b, old=old)
    part = (a + b).astype(np.int64) & ((1 << bits) - 1)
    remainder = old & ~(((1 << bits) - 1) << first) if unused == "PRESERVE" else 0
    if unused == "SEXT":
        part = np.where(part >> (bits - 1), part - (1 << bits), part)
    assert np.array_equal(actual, ((part << first) | remainder).astype(np.uint64).astype(np.uint32))


def test_sdwa_of_halves() -> None:
    a, b = awkward_words(5_000, 2, 1)
    text = "v_add_f16_sdwa {d}, |{0}|, -{1} dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0"
    x, y = (a >> 16 & 0x7FFF).astype(np.uint16), (b & 0xFFFF ^ 0x8000).astype(np.uint16)
    expected = evaluate("v_add_f16 {d}, {0}, {1}", x, y)
    assert np.array_equal(evaluate(text, a, b, old=0xABCD1234), expected << 16 | 0x1234)


@pytest.mark.parametrize(("name", "form"), [("f16", HALF), ("f32", SINGLE), ("f64", DOUBLE)])
def test_negation_and_absolute_value(name: str, form: Any) -> None:
    a, b = (awkward(form, 3_000, s) for s in (1, 2))
    sign, top = form.word(1 << (form.bits - 1)), form.word((1 << (form.bits - 1)) - 1)
    plain = f"v_mul_{name} {{d}}, {{0}}, {{1}}"
    actual = evaluate(f"v_mul_{name} {{d}}, -|{{0}}|, -{{1}}", a, b, result=form.word)
    assert np.array_equal(actual, evaluate(plain, (a & top) | sign, b ^ sign, result=form.word))


@pytest.mark.parametrize(("name", "form"), [("f16", HALF), ("f32", SINGLE), ("f64", DOUBLE)])
@pytest.mark.parametrize("dx10", [0, 1])
@np.errstate(all="ignore")
def test_clamp(name: str, form: Any, dx10: int) -> None:
    a, b = (awkward(form, 5_000, s) for s in (1, 2))
    text = f"v_add_{name} {{d}}, {{0}}, {{1}}"
    sums = evaluate(text, a, b, result=form.value)
    actual = evaluate(f"{text} clamp", a, b, result=form.value, setting=mode(dx10=dx10))
    zero, upper = form.value(0), form.value(1)
    bounded = np.where(sums > 0, np.minimum(sums, upper), zero)
    assert np.array_equal(actual, np.where(np.isnan(sums), zero if dx10 else sums, bounded), equal_nan=True)
    assert not np.signbit(actual[actual == 0]).any()


@pytest.mark.parametrize(("name", "form"), [("f16", HALF), ("f32", SINGLE)])
@pytest.mark.parametrize(("omod", "factor"), [("mul:2", 2.0), ("mul:4", 4.0), ("div:2", 0.5)])
@np.errstate(all="ignore")
def test_output_modifiers(name: str, form: Any, omod: str, factor: float) -> None:
    a, b = (awkward(form, 5_000, s) for s in (1, 2))
    text = f"v_mul_{name} {{d}}, {{0}}, {{1}}"
    plain = mode(denormals=0, ieee=0)
    products = evaluate(text, a, b, result=form.value, setting=plain)
    scaled = (products * form.value(factor)).astype(form.value)
    tiny = np.abs(scaled) < np.finfo(form.value).tiny
    expected = np.where(tiny, form.value(0), scaled)
    assert np.array_equal(evaluate(f"{text} {omod}", a, b, result=form.value, setting=plain), expected, equal_nan=True)
    for setting in (mode(denormals=0), mode(ieee=0)):  # IEEE mode and denormals switch it off
        ignored = evaluate(f"{text} {omod}", a, b, result=form.word, setting=setting)
        assert np.array_equal(ignored, evaluate(text, a, b, result=form.word, setting=setting))


def test_halves_chosen_by_op_sel() -> None:
    a, b, c = awkward_words(3_000, 3, 1)
    for x, y, z, d in itertools.product((0, 1), repeat=4):
        text = f"v_fma_f16 {{d}}, {{0}}, {{1}}, {{2}} op_sel:[{x},{y},{z},{d}]"
        halves = [(v >> 16 * s & 0xFFFF).astype(np.uint16) for v, s in zip((a, b, c), (x, y, z), strict=True)]
        expected = evaluate("v_fma_f16 {d}, {0}, {1}, {2}", *halves) & 0xFFFF
        actual = evaluate(text, a, b, c, old=0x55AA33CC)
        assert np.array_equal(actual, expected << 16 | 0x33CC if d else expected | 0x55AA0000)


def test_upper_halves_of_results() -> None:
    """Instructions that GFX8 knew write zeros there, those new in GFX9 leave it (LLVM: zeroesHigh16BitsOfDest)."""
    a, b = (awkward(HALF, 256, s) for s in (1, 2))
    for name in ("add", "mul", "max", "sub"):
        assert (evaluate(f"v_{name}_f16 {{d}}, {{0}}, {{1}}", a, b, old=ALL) >> 16 == 0).all()
    for name in ("fma", "mad", "min3", "med3"):
        assert (evaluate(f"v_{name}_f16 {{d}}, {{0}}, {{1}}, {{0}}", a, b, old=ALL) >> 16 == 0xFFFF).all()
    assert (evaluate("v_mac_f16 {d}, {0}, {1}", a, b, old=ALL) >> 16 == 0xFFFF).all()


def test_lanes_outside_exec_keep_their_values() -> None:
    old = np.full((1, 64), 0x12345678, np.uint32)
    a = np.full((1, 64), 0x3F800000, np.uint32)
    mask = 0x8000_0001_0000_FF00
    masks = {EXEC + k: np.array([mask >> 32 * k & ALL], np.uint32) for k in (0, 1)}
    for text in (
        "v_add_f32 v3, v1, v2",
        "v_add_f64 v[3:4], v[1:2], v[1:2]",
        "v_pk_add_f16 v3, v1, v2",
        "v_exp_f32 v3, v1",
    ):
        inputs = {1: a, 2: a, 3: old, 4: old, **masks}
        ((actual, _),), _ = run([text], {k: (x, np.full_like(x, ALL)) for k, x in inputs.items()}, [3])
        assert np.array_equal(actual[0] != 0x12345678, lanes_of(mask)), text


def definedness(text: str, masks: dict[int, int], old: int = ALL) -> int:
    """The defined bits of v3, where v1 and v2 have these and v3 had `old`; the same in every lane."""
    value = np.full((1, 64), 0x3C003C00, np.uint32)
    state = {k: (value, np.full((1, 64), masks.get(k, ALL), np.uint32)) for k in (1, 2)}
    state[3] = (value, np.full((1, 64), old, np.uint32))
    ((_, actual),), _ = run([text], state, [3])
    assert (actual == actual[0, 0]).all()
    return int(actual[0, 0])


@pytest.mark.parametrize(
    ("text", "masks", "old", "expected"),
    [
        ("v_add_f32 v3, v1, v2", {1: 0xFFFFFF00}, ALL, 0),
        ("v_add_f32 v3, v1, v2", {}, 0, ALL),
        ("v_add_f16 v3, v1, v2", {1: 0x0000FFFF}, ALL, ALL),
        ("v_add_f16 v3, v1, v2", {1: 0xFFFF0000}, ALL, 0xFFFF0000),
        ("v_fma_f16 v3, v1, v2, v1", {}, 0x00FFFFFF, 0x00FFFFFF),
        ("v_pk_add_f16 v3, v1, v2", {2: 0xFFFF0000}, ALL, 0xFFFF0000),
        ("v_pk_add_u16 v3, v1, v2 op_sel:[0,1] op_sel_hi:[1,1]", {2: 0xFFFF0000}, ALL, ALL),
        ("v_cvt_f32_ubyte2 v3, v1", {1: 0x00FF0000}, ALL, ALL),
        ("v_cvt_f32_ubyte2 v3, v1", {1: 0xFF00FFFF}, ALL, 0),
        ("v_cvt_f32_fp8 v3, v1", {1: 0xFF}, ALL, ALL),
        ("v_cvt_f32_fp8_sdwa v3, v1 src0_sel:BYTE_3", {1: 0xFF}, ALL, 0),
        ("v_cvt_pk_fp8_f32 v3, v1, v2", {}, 0, 0x0000FFFF),
        ("v_cvt_pk_fp8_f32 v3, v1, v2 op_sel:[0,0,1]", {1: 0}, ALL, 0x0000FFFF),
        ("v_cvt_sr_fp8_f32 v3, v1, v2 op_sel:[0,0,0,1]", {1: 0}, ALL, 0xFF00FFFF),
        ("v_cvt_pkrtz_f16_f32 v3, v1, v2", {2: 0}, ALL, 0x0000FFFF),
        ("v_pack_b32_f16 v3, v1, v2", {1: 0xFFFF00FF}, ALL, 0xFFFF00FF),
        ("v_cvt_pk_u8_f32 v3, v1, 2, v2", {1: 0}, ALL, 0xFF00FFFF),
        ("v_fma_mixlo_f16 v3, v1, v2, v1", {}, 0, 0x0000FFFF),
        ("v_fma_mixhi_f16 v3, v1, v2, v1", {}, 0, 0xFFFF0000),
        ("v_fma_mix_f32 v3, v1, v2, v1 op_sel:[1,0,1] op_sel_hi:[1,0,1]", {1: 0xFFFF0000}, 0, ALL),
        (
            "v_add_u32_sdwa v3, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
            {},
            0,
            0xFF00,
        ),
        ("v_dot4_i32_i8 v3, v1, v2, v1", {2: 0xFF}, ALL, 0),
    ],
)
def test_defined_bytes(text: str, masks: dict[int, int], old: int, expected: int) -> None:
    assert definedness(text, masks, old) == expected


def test_defined_lanes_of_dpp_and_of_masks() -> None:
    value = np.full((1, 64), 0x3F800000, np.uint32)
    some = np.where(LANES % 3 == 0, 0, ALL).astype(np.uint32)[None]
    state = {1: (value, some), 2: (value, np.full_like(some, ALL)), 3: (value, np.full_like(some, ALL))}
    ((_, actual),), _ = run(["v_add_f32_dpp v3, v1, v2 row_mirror row_mask:0xf bank_mask:0xf"], state, [3])
    assert np.array_equal(actual[0], some[0, CONTROLS["row_mirror"]])
    after, _ = run(["v_div_scale_f32 v3, vcc, v1, v2, v1"], state, [3, VCC, VCC + 1])
    assert np.array_equal(after[0][1], some)
    bits = int(after[1][1][0, 0]) | int(after[2][1][0, 0]) << 32
    assert np.array_equal(lanes_of(bits), some[0] == ALL)
