"""v_cmp and v_cmpx of every type and relation against NumPy; classes of floats against their definition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.register_steps import EXEC, VCC, Registers, step

Array = np.ndarray
STATES = 313
DTYPES = {
    "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
ORDERED: dict[str, Callable[[Array, Array], Array]] = {
    "f": lambda a, b: np.zeros(a.shape, bool),
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
INTEGER = ORDERED | {"ne": np.not_equal, "t": lambda a, b: np.ones(a.shape, bool)}
FLOAT = ORDERED | {
    "lg": lambda a, b: ~np.isnan(a) & ~np.isnan(b) & (a != b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: np.isnan(a) | np.isnan(b) | (a == b),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
    "tru": lambda a, b: np.ones(a.shape, bool),
}
CASES = [f"{r}_{t}" for t in DTYPES for r in (FLOAT if t[0] == "f" else INTEGER)]
FLOATS = {
    "f16": [0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7DFF, 0x7E00, 0x7FFF],
    "f32": [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF],
    "f64": [0, 1, (1 << 52) - 1, 1 << 52, 0x3FF << 52, 0x7FF << 52, (0x7FF << 52) + 1, (0xFFF << 51), (1 << 63) - 1],
}


def operands(kind: str, seed: int) -> list[Array]:
    """Two arrays (states, 64) of uint64: the awkward floats of a type in pairs, then words of any kind."""
    words = awkward_words(STATES * 64, 4, seed)
    pairs = [
        words[0] | words[1].astype(np.uint64) << np.uint64(32),
        words[2] | words[3].astype(np.uint64) << np.uint64(32),
    ]
    pairs[1][::5] = pairs[0][::5]
    if kind in FLOATS:
        top = 1 << int(kind[1:]) - 1
        grid = np.array(list(product([x | s for x in FLOATS[kind] for s in (0, top)], repeat=2)), np.uint64)
        for i in range(2):
            pairs[i][: len(grid)] = grid[:, i]
    return [p.reshape(STATES, 64) for p in pairs]


def typed(words: Array, kind: str) -> Array:
    return words.astype(f"<u{int(kind[1:]) // 8}").view(DTYPES[kind])


def registers(words: list[Array], scalars: dict[int, Array]) -> Registers:
    halves = [h.astype(np.uint32) for w in words for h in (w & np.uint64(0xFFFFFFFF), w >> np.uint64(32))]
    return Registers(dict(enumerate(halves)), scalars)


def masks(lanes: Array) -> list[int]:
    return [int(row.astype(np.uint64) @ (np.uint64(1) << np.arange(64, dtype=np.uint64))) for row in lanes]


def pair(scalars: object, index: int) -> list[int]:
    return [int(a) | int(b) << 32 for a, b in zip(scalars[index], scalars[index + 1], strict=True)]  # type: ignore[index]


def names(kind: str) -> str:
    return "v[0:1], v[2:3]" if kind.endswith("64") else "v0, v2"


@pytest.mark.parametrize("case", CASES)
@np.errstate(invalid="ignore")
def test_masks_of_comparisons(case: str) -> None:
    relation, _, kind = case.partition("_")
    words = operands(kind, seed=len(case))
    rng = np.random.default_rng(1)
    halves = rng.integers(0, 1 << 32, (2, STATES), np.uint64).astype(np.uint32)
    before = registers(words, {EXEC: halves[0], EXEC + 1: halves[1], 4: halves[0], 5: halves[1]})
    active = np.array([[m >> lane & 1 for lane in range(64)] for m in pair(before.scalars, EXEC)], bool)
    f = (FLOAT if kind[0] == "f" else INTEGER)[relation]
    expected = masks(f(*(typed(w, kind) for w in words)) & active)
    after = step(f"v_cmp_{case} vcc, {names(kind)}", before, [], [VCC, VCC + 1, EXEC, EXEC + 1])
    assert pair(after.scalars, VCC) == expected
    assert pair(after.scalars, EXEC) == pair(before.scalars, EXEC)
    after = step(f"v_cmpx_{case} s[4:5], {names(kind)}", before, [], [4, 5, EXEC, EXEC + 1])
    assert pair(after.scalars, 4) == expected
    assert pair(after.scalars, EXEC) == expected
    assert not after.reports.any()


def class_bit(bits: int, exponent_bits: int, fraction_bits: int) -> int:
    """AMD's CDNA3 instruction set, V_CMP_CLASS_F32: signalling and quiet NaN, -infinity, ... to +infinity."""
    exponent, fraction = bits >> fraction_bits & (1 << exponent_bits) - 1, bits & (1 << fraction_bits) - 1
    negative = bits >> exponent_bits + fraction_bits & 1
    if exponent == (1 << exponent_bits) - 1:
        if fraction:
            return fraction >> fraction_bits - 1
        return 2 if negative else 9
    kind = 0 if exponent else 1 if fraction else 2
    return 3 + kind if negative else 8 - kind


@pytest.mark.parametrize(("kind", "exponent", "fraction"), [("f16", 5, 10), ("f32", 8, 23), ("f64", 11, 52)])
def test_classes_of_floats(kind: str, exponent: int, fraction: int) -> None:
    words = operands(kind, seed=2)
    source = "v[0:1]" if kind == "f64" else "v0"
    classes = np.array([[class_bit(int(x), exponent, fraction) for x in row] for row in words[0]])
    expected = masks((words[1] >> classes.astype(np.uint64) & np.uint64(1)).astype(bool))
    after = step(f"v_cmp_class_{kind} s[4:5], {source}, v2", registers(words, {}), [], [4, 5])
    assert pair(after.scalars, 4) == expected


def test_every_half_has_its_class() -> None:
    all_halves = np.arange(65536, dtype=np.uint64).reshape(-1, 64)
    for bit in range(10):
        before = registers([all_halves, np.full_like(all_halves, 1 << bit)], {})
        expected = masks(np.array([[class_bit(int(x), 5, 10) == bit for x in row] for row in all_halves]))
        assert pair(step("v_cmp_class_f16 vcc, v0, v2", before, [], [VCC, VCC + 1]).scalars, VCC) == expected


def test_every_half_compares_with_awkward_ones() -> None:
    all_halves = np.arange(65536, dtype=np.uint64).reshape(-1, 64)
    for other in FLOATS["f16"]:
        words = [all_halves, np.full_like(all_halves, other | 0x8000)]
        with np.errstate(invalid="ignore"):
            expected = masks(np.less(*(typed(w, "f16") for w in words)))
        assert pair(step("v_cmp_lt_f16 vcc, v0, v2", registers(words, {}), [], [VCC, VCC + 1]).scalars, VCC) == expected


def test_signs_are_changed_before_comparing() -> None:
    words = operands("f32", seed=3)
    with np.errstate(invalid="ignore"):
        expected = masks(-typed(words[0], "f32") < np.abs(typed(words[1], "f32")))
    after = step("v_cmp_lt_f32 s[4:5], -v0, |v2|", registers(words, {}), [], [4, 5])
    assert pair(after.scalars, 4) == expected
