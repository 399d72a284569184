"""Scalar ALU instructions against Python's integers: results, SCC, EXEC."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.register_steps import EXEC, SCC, Registers, step

COUNT, LONG_COUNT = 20_000, 1_000_000
WORD, LONG = (1 << 32) - 1, (1 << 64) - 1
Result = tuple[int, int | None]  # result before it is cut to its registers, SCC; None: SCC stays


def s(x: int, bits: int = 32) -> int:
    return x - (1 << bits) if x >> bits - 1 & 1 else x


def overflow(x: int) -> int:
    return int(not -(1 << 31) <= x < 1 << 31)


def plain(f: Callable[..., int]) -> Callable[..., Result]:
    return lambda *x: (f(*x), None)


def nonzero(f: Callable[..., int], bits: int = 32) -> Callable[..., Result]:
    return lambda *x: (f(*x), int(f(*x) & (1 << bits) - 1 != 0))


def shifted_sum(count: int) -> Callable[..., Result]:
    return lambda a, b, c: ((a << count) + b, int((a << count) + b > WORD))


def extreme(f: Callable[..., int], key: Callable[[int], int]) -> Callable[..., Result]:
    return lambda a, b, c: (f(a, b, key=key), int(f(a, b, key=key) == a and (a != b)))


def bfe(a: int, b: int, bits: int, is_signed: bool) -> int:
    width = b >> 16 & 127
    field = (s(a, bits) if is_signed else a) >> b % bits & (1 << min(width, bits)) - 1
    return s(field, width) if is_signed and 0 < width < bits else field


def wqm(a: int, bits: int) -> int:
    return sum(15 << k for k in range(0, bits, 4) if a >> k & 15)


def quadmask(a: int, bits: int) -> int:
    return sum(1 << k // 4 for k in range(0, bits, 4) if a >> k & 15)


def lowest(a: int) -> int:
    return (a & -a).bit_length() - 1


def flbit(a: int, bits: int) -> int:
    return bits - a.bit_length() if a else -1


def signs(a: int, bits: int) -> int:
    return flbit(~a & (1 << bits) - 1 if a >> bits - 1 else a, bits)


def both(name: str, f: Callable[[int, int, int], int], scc: bool = True) -> dict[str, Callable[..., Result]]:
    """b32 and b64 of f(a, b, bits)."""
    rows: dict[str, Callable[..., Result]] = {}
    for bits in (32, 64):
        g = lambda a, b, c, bits=bits: f(a, b, bits)  # noqa: E731
        rows[f"{name}{bits}"] = nonzero(g, bits) if scc else plain(g)
    return rows


# Sources by the text: A, B are 32 bits (s4, s6), AA, BB 64 bits. f takes a, b and SCC.
SCALAR: dict[str, Callable[..., Result]] = {
    "s_add_u32 A B": lambda a, b, c: (a + b, a + b >> 32),
    "s_sub_u32 A B": lambda a, b, c: (a - b, int(a < b)),
    "s_add_i32 A B": lambda a, b, c: (a + b, overflow(s(a) + s(b))),
    "s_sub_i32 A B": lambda a, b, c: (a - b, overflow(s(a) - s(b))),
    "s_addc_u32 A B": lambda a, b, c: (a + b + c, a + b + c >> 32),
    "s_subb_u32 A B": lambda a, b, c: (a - b - c, int(a < b + c)),
    "s_min_i32 A B": extreme(min, s),
    "s_min_u32 A B": extreme(min, int),
    "s_mul_i32 A B": plain(lambda a, b, c: a * b),
    "s_mul_hi_u32 A B": plain(lambda a, b, c: a * b >> 32),
    "s_mul_hi_i32 A B": plain(lambda a, b, c: s(a) * s(b) >> 32),
    "s_absdiff_i32 A B": nonzero(lambda a, b, c: abs(s(a) - s(b))),
    "s_abs_i32 A": nonzero(lambda a, b, c: abs(s(a))),
    "s_lshl1_add_u32 A B": shifted_sum(1),
    "s_lshl2_add_u32 A B": shifted_sum(2),
    "s_lshl3_add_u32 A B": shifted_sum(3),
    "s_lshl4_add_u32 A B": shifted_sum(4),
    "s_cselect_b32 A B": plain(lambda a, b, c: a if c else b),
    "s_cselect_b64 AA BB": plain(lambda a, b, c: a if c else b),
    "s_mov_b32 A": plain(lambda a, b, c: a),
    "s_mov_b64 AA": plain(lambda a, b, c: a),
    "s_ashr_i32 A B": nonzero(lambda a, b, c: s(a) >> b % 32),
    "s_ashr_i64 AA B": nonzero(lambda a, b, c: s(a, 64) >> b % 64, 64),
    "s_bfe_u32 A B": nonzero(lambda a, b, c: bfe(a, b, 32, False)),
    "s_bfe_i32 A B": nonzero(lambda a, b, c: bfe(a, b, 32, True)),
    "s_bfe_u64 AA B": nonzero(lambda a, b, c: bfe(a, b, 64, False), 64),
    "s_bfe_i64 AA B": nonzero(lambda a, b, c: bfe(a, b, 64, True), 64),
    "s_bfm_b32 A B": plain(lambda a, b, c: ((1 << a % 32) - 1) << b % 32),
    "s_bfm_b64 A B": plain(lambda a, b, c: ((1 << a % 64) - 1) << b % 64),
    "s_flbit_i32 A": plain(lambda a, b, c: signs(a, 32)),
    "s_flbit_i32_i64 AA": plain(lambda a, b, c: signs(a, 64)),
    "s_sext_i32_i8 A": plain(lambda a, b, c: s(a & 255, 8)),
    "s_sext_i32_i16 A": plain(lambda a, b, c: s(a & 65535, 16)),
    "s_bitreplicate_b64_b32 A": plain(lambda a, b, c: sum((a >> k & 1) * 3 << 2 * k for k in range(32))),
    "s_pack_ll_b32_b16 A B": plain(lambda a, b, c: (a & 65535) | (b & 65535) << 16),
    "s_pack_lh_b32_b16 A B": plain(lambda a, b, c: (a & 65535) | (b >> 16) << 16),
    "s_pack_hh_b32_b16 A B": plain(lambda a, b, c: a >> 16 | (b >> 16) << 16),
}
TWO = {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b), "xnor": lambda a, b: ~(a ^ b), "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
}  # fmt: skip
for _name, _f in TWO.items():
    SCALAR[f"s_{_name}_b32 A B"] = nonzero(lambda a, b, c, f=_f: f(a, b))
    SCALAR[f"s_{_name}_b64 AA BB"] = nonzero(lambda a, b, c, f=_f: f(a, b), 64)
for _bits, _a in ((32, "A"), (64, "AA")):
    _top = (1 << _bits) - 1
    SCALAR |= {
        f"s_not_b{_bits} {_a}": nonzero(lambda a, b, c: ~a, _bits),
        f"s_lshl_b{_bits} {_a} B": nonzero(lambda a, b, c, n=_bits: a << b % n, _bits),
        f"s_lshr_b{_bits} {_a} B": nonzero(lambda a, b, c, n=_bits: a >> b % n, _bits),
        f"s_brev_b{_bits} {_a}": plain(lambda a, b, c, n=_bits: int(f"{a:0{n}b}"[::-1], 2)),
        f"s_wqm_b{_bits} {_a}": nonzero(lambda a, b, c, n=_bits: wqm(a, n), _bits),
        f"s_quadmask_b{_bits} {_a}": nonzero(lambda a, b, c, n=_bits: quadmask(a, n), _bits),
        f"s_bcnt0_i32_b{_bits} {_a}": nonzero(lambda a, b, c, n=_bits: n - a.bit_count()),
        f"s_bcnt1_i32_b{_bits} {_a}": nonzero(lambda a, b, c: a.bit_count()),
        f"s_ff0_i32_b{_bits} {_a}": plain(lambda a, b, c, t=_top: lowest(~a & t)),
        f"s_ff1_i32_b{_bits} {_a}": plain(lambda a, b, c: lowest(a)),
        f"s_flbit_i32_b{_bits} {_a}": plain(lambda a, b, c, n=_bits: flbit(a, n)),
    }
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
}  # fmt: skip


def sources(count: int, seed: int) -> Registers:
    """s4 to s7 awkward, SCC random."""
    words = awkward_words(count, 4, seed)
    words[2], words[1] = words[1], words[2]  # pairs of awkward words in s4 and s6
    rng = np.random.default_rng(seed)
    words[2][::7] = words[0][::7]
    return Registers(
        {}, dict(zip(range(4, 8), words, strict=True)) | {SCC: rng.integers(0, 2, count).astype(np.uint32)}
    )


def joined(before: Registers, index: int, is_wide: bool) -> list[int]:
    low = before.scalars[index].tolist()
    return [a | b << 32 for a, b in zip(low, before.scalars[index + 1].tolist(), strict=True)] if is_wide else low


def check(case: str, count: int) -> None:
    name, *kinds = case.split()
    is_wide = (name.endswith(("b64", "u64", "i64")) and "_i32_" not in name) or name == "s_bitreplicate_b64_b32"
    before = sources(count, len(case))
    texts = {"A": "s4", "B": "s6", "AA": "s[4:5]", "BB": "s[6:7]"}
    to = "s[10:11]" if is_wide else "s10"
    after = step(f"{name} {', '.join([to, *(texts[k] for k in kinds)])}", before, [], [10, 11, SCC])
    a = joined(before, 4, "AA" in kinds)
    b = joined(before, 6, "BB" in kinds)
    top = LONG if is_wide else WORD
    expected = [SCALAR[case](*x) for x in zip(a, b, before.scalars[SCC].tolist(), strict=True)]
    assert joined(after, 10, is_wide) == [x & top for x, _ in expected]
    scc = [c if new is None else new for (_, new), c in zip(expected, before.scalars[SCC].tolist(), strict=True)]
    assert after.scalars[SCC].tolist() == scc


@pytest.mark.parametrize("case", SCALAR)
def test_scalar_instructions(case: str) -> None:
    check(case, COUNT // 4)


@pytest.mark.long
@pytest.mark.parametrize("case", SCALAR)
def test_scalar_instructions_on_a_million_operands(case: str) -> None:
    check(case, LONG_COUNT)


@pytest.mark.parametrize("kind", ["i32", "u32"])
def test_the_larger_of_two_scalars(kind: str) -> None:
    before = sources(COUNT, 6)
    after = step(f"s_max_{kind} s10, s4, s6", before, [], [10, SCC])
    key: Callable[[int], int] = s if kind == "i32" else int
    pairs = list(zip(joined(before, 4, False), joined(before, 6, False), strict=True))
    assert after.scalars[10].tolist() == [max(a, b, key=key) for a, b in pairs]
    expected_defined = [
        (c, bool(d)) for c, d in zip(after.scalars[SCC].tolist(), after.scalars_defined[SCC].tolist(), strict=True)
    ]
    assert [d for _, d in expected_defined] == [a != b for a, b in pairs]
    assert all(c == (key(a) > key(b)) for (a, b), (c, _) in zip(pairs, expected_defined, strict=True) if a != b)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", ["i32", "u32", "u64"])
def test_scalar_comparisons(relation: str, kind: str) -> None:
    if kind == "u64" and relation not in ("eq", "lg"):
        return
    before = sources(COUNT, 7)
    registers = "s[4:5], s[6:7]" if kind == "u64" else "s4, s6"
    after = step(f"s_cmp_{relation}_{kind} {registers}", before, [], [SCC])
    a, b = (joined(before, i, kind == "u64") for i in (4, 6))
    key: Callable[[int], int] = s if kind == "i32" else int
    assert after.scalars[SCC].tolist() == [RELATIONS[relation](key(x), key(y)) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("immediate", [0, 1, 0x7FFF, 0x8000, 0xFFFF])
def test_immediates_of_16_bits(immediate: int) -> None:
    before = sources(COUNT, 8)
    extended = s(immediate, 16)
    old = joined(before, 4, False)
    names = ["s_movk_i32", "s_cmovk_i32", "s_addk_i32", "s_mulk_i32", "s_cmpk_lt_i32", "s_cmpk_lt_u32", "s_cmpk_eq_i32"]
    results = {name: step(f"{name} s4, {hex(immediate)}", before, [], [4, SCC]) for name in names}
    scc = before.scalars[SCC].tolist()
    assert set(results["s_movk_i32"].scalars[4].tolist()) == {extended & WORD}
    assert results["s_cmovk_i32"].scalars[4].tolist() == [
        extended & WORD if c else x for x, c in zip(old, scc, strict=True)
    ]
    assert results["s_addk_i32"].scalars[4].tolist() == [x + extended & WORD for x in old]
    assert results["s_addk_i32"].scalars[SCC].tolist() == [overflow(s(x) + extended) for x in old]
    assert results["s_mulk_i32"].scalars[4].tolist() == [x * extended & WORD for x in old]
    assert results["s_cmpk_lt_i32"].scalars[SCC].tolist() == [s(x) < extended for x in old]
    assert results["s_cmpk_lt_u32"].scalars[SCC].tolist() == [x < immediate for x in old]
    assert results["s_cmpk_eq_i32"].scalars[SCC].tolist() == [s(x) == extended for x in old]


@pytest.mark.parametrize("bits", [32, 64])
def test_single_bits(bits: int) -> None:
    before = sources(COUNT, 9)
    wide = bits == 64
    value, position = joined(before, 4, wide), joined(before, 6, False)
    text = "s[4:5]" if wide else "s4"
    set_ = joined(step(f"s_bitset1_b{bits} {text}, s6", before, [], [4, 5]), 4, wide)
    cleared = joined(step(f"s_bitset0_b{bits} {text}, s6", before, [], [4, 5]), 4, wide)
    bits_tested = [step(f"s_bitcmp{k}_b{bits} {text}, s6", before, [], [SCC]).scalars[SCC].tolist() for k in (0, 1)]
    bit = [1 << p % bits for p in position]
    assert set_ == [v | x for v, x in zip(value, bit, strict=True)]
    assert cleared == [v & ~x for v, x in zip(value, bit, strict=True)]
    assert bits_tested[1] == [bool(v & x) for v, x in zip(value, bit, strict=True)]
    assert bits_tested[0] == [not v & x for v, x in zip(value, bit, strict=True)]


@pytest.mark.parametrize("width", [32, 64])
def test_conditional_moves(width: int) -> None:
    before = sources(COUNT, 10)
    wide = width == 64
    after = step(f"s_cmov_b{width} {'s[6:7], s[4:5]' if wide else 's6, s4'}", before, [], [6, 7])
    choices = zip(joined(before, 4, wide), joined(before, 6, wide), before.scalars[SCC].tolist(), strict=True)
    assert joined(after, 6, wide) == [a if c else b for a, b, c in choices]


EXEC_CHANGES = TWO | {"andn1": lambda a, b: ~a & b, "orn1": lambda a, b: ~a | b}


@pytest.mark.parametrize("name", EXEC_CHANGES)
def test_exec_is_saved_and_changed(name: str) -> None:
    start = sources(COUNT, 11)
    exec_ = {EXEC: start.scalars[6].copy(), EXEC + 1: start.scalars[7].copy()}
    before = Registers({}, {4: start.scalars[4], 5: start.scalars[5], **exec_})
    old, source = joined(before, EXEC, True), joined(before, 4, True)
    new = [EXEC_CHANGES[name](a, b) & LONG for a, b in zip(source, old, strict=True)]
    after = step(f"s_{name}_saveexec_b64 s[10:11], s[4:5]", before, [], [10, 11, SCC, EXEC, EXEC + 1])
    assert joined(after, 10, True) == old
    assert joined(after, EXEC, True) == new
    assert after.scalars[SCC].tolist() == [x != 0 for x in new]
    if name in ("andn1", "andn2"):
        after = step(f"s_{name}_wrexec_b64 s[10:11], s[4:5]", before, [], [10, 11, SCC, EXEC, EXEC + 1])
        assert joined(after, 10, True) == new
        assert joined(after, EXEC, True) == new
