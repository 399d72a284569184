"""Operations on many values at once do what LLVM's do on one."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.lab.decided_values import computed, constant

NUMBERS = [0, 1, 2, 7, 127, 128, 255, 1000, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 9]
A = np.array([a for a in NUMBERS for _ in NUMBERS], np.uint64)
B = np.array([b for _ in NUMBERS for b in NUMBERS], np.uint64)


def signed(value: int) -> int:
    return value - 2**32 if value >= 2**31 else value


def quotient(a: int, b: int) -> int:
    return abs(signed(a)) // abs(signed(b)) * (1 if (signed(a) < 0) == (signed(b) < 0) else -1)


WHOLE = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "xor": lambda a, b: a ^ b,
    "udiv": lambda a, b: a // b if b else None,
    "urem": lambda a, b: a % b if b else None,
    "sdiv": lambda a, b: quotient(a, b) if b else None,
    "srem": lambda a, b: signed(a) - quotient(a, b) * signed(b) if b else None,
    "shl": lambda a, b: a << b if b < 32 else None,
    "lshr": lambda a, b: a >> b if b < 32 else None,
    "ashr": lambda a, b: signed(a) >> b if b < 32 else None,
    "umin": min,
    "umax": max,
    "smin": lambda a, b: min(a, b, key=signed),
    "smax": lambda a, b: max(a, b, key=signed),
}


@pytest.mark.parametrize("word", WHOLE)
def test_whole_numbers_of_32_bits(word: str) -> None:
    made = computed(word, [], "i32", [A, B])
    assert made is not None
    for a, b, found in zip(A.tolist(), B.tolist(), made.tolist(), strict=True):
        expected = WHOLE[word](a, b)
        assert expected is None or found == expected % 2**32, (word, a, b)


@pytest.mark.parametrize("how", ["eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"])
def test_comparisons(how: str) -> None:
    made = computed("icmp", [how, "i32"], "i1", [A, B])
    plain = {"eq": "__eq__", "ne": "__ne__"}.get(how, f"__{how[1:]}__")
    value = signed if how[0] == "s" else int
    assert made is not None
    assert made.tolist() == [
        int(getattr(value(a), plain)(value(b))) for a, b in zip(A.tolist(), B.tolist(), strict=True)
    ]


def test_bits() -> None:
    def of(word: str, *more: np.ndarray) -> list[int]:
        made = computed(word, [], "i32", [np.array(NUMBERS, np.uint64), *more])
        assert made is not None
        return [int(each) for each in made]

    flag = np.zeros(len(NUMBERS), np.uint64)
    assert of("ctpop") == [n.bit_count() for n in NUMBERS]
    assert of("ctlz", flag) == [32 - n.bit_length() for n in NUMBERS]
    assert of("cttz", flag) == [(n & -n).bit_length() - 1 if n else 32 for n in NUMBERS]
    assert of("abs", flag) == [abs(signed(n)) for n in NUMBERS]
    assert of("bitreverse") == [int(f"{n:032b}"[::-1], 2) for n in NUMBERS]
    assert of("bswap") == [int.from_bytes(n.to_bytes(4, "little"), "big") for n in NUMBERS]
    by = np.full(len(NUMBERS), 5, np.uint64)
    same = np.array(NUMBERS, np.uint64)
    assert of("fshl", same, by) == [(n << 5 | n >> 27) % 2**32 for n in NUMBERS]
    assert of("fshr", same, by) == [(n >> 5 | n << 27) % 2**32 for n in NUMBERS]


def test_conversions_and_floating_point() -> None:
    many = np.array([3, 2**32 - 3], np.uint64)

    def of(word: str, source: str, kind: str, value: np.ndarray) -> np.ndarray:
        made = computed(word, [source], kind, [value])
        assert made is not None
        return made

    assert of("sext", "i32", "i64", many).tolist() == [3, 2**64 - 3]
    assert of("trunc", "i32", "i8", many).tolist() == [3, 253]
    real = of("sitofp", "i32", "float", many)
    assert real.dtype == np.float32 and real.tolist() == [3.0, -3.0]
    assert of("fptosi", "float", "i32", real).tolist() == many.tolist()
    assert of("bitcast", "i32", "float", of("bitcast", "float", "i32", real)).tolist() == real.tolist()
    assert constant("5.000000e-01", "float", 1) == 0.5 and constant("0x3FE0000000000000", "double", 1) == 0.5
    assert constant("-1", "i16", 1) == 65535 and constant("true", "i1", 1) == 1 and constant("poison", "i32", 1) is None
    nan = np.array([np.nan, 1.0], np.float32)
    for how, expected in (("olt", [0, 1]), ("ult", [1, 1]), ("uno", [1, 0]), ("ord", [0, 1])):
        made = computed("fcmp", [how, "float"], "i1", [nan, np.array([2.0, 2.0], np.float32)])
        assert made is not None and made.tolist() == expected
    assert computed("add", [], "i128", [many, many]) is None
    assert computed("fcmp", ["true", "float"], "i1", [nan, nan]) is None  # no comparison that clang writes
