"""Operations of LLVM on many values at once, as `decided.py` needs them.

Integers are uint64 with the bits of their type and zeros above; floating types are numpy's. What LLVM leaves undefined,
as a division by zero, is some number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
_FLOATS: Mapping[str, type] = {"float": np.float32, "double": np.float64}


def _bits(kind: str) -> int:
    return int(kind[1:])


def _masked(value: Values, kind: str) -> Values:
    return value if _bits(kind) >= 64 else value & np.uint64((1 << _bits(kind)) - 1)


def _signed(value: Values, kind: str) -> Values:
    free = np.uint64(64 - _bits(kind))
    shifted: Values = (value << free).view(np.int64) >> free.astype(np.int64)
    return shifted


def constant(word: str, kind: str, count: int) -> Values | None:
    """So many times the number that a word of LLVM's text stands for; None where it stands for none."""
    if kind in _FLOATS:
        number = _real(word)
        return None if number is None else np.full(count, number, _FLOATS[kind])
    whole = {"true": 1, "false": 0}.get(word)
    whole = int(word) if whole is None and word.lstrip("-").isdigit() else whole
    return None if whole is None else np.full(count, whole % (1 << min(_bits(kind), 64)), np.uint64)


def _real(word: str) -> float | None:
    if word.startswith("0x"):
        return float(np.array(int(word, 16), np.uint64).view(np.float64))
    try:
        return float(word)
    except ValueError:
        return None


def computed(word: str, types: list[str], kind: str, given: list[Values]) -> Values | None:
    """The result of one operation; None for one that is not understood or a type that is too wide."""
    if any(each.startswith("i") and _bits(each) > 64 for each in (kind, *types[-1:])):
        return None
    if word in ("icmp", "fcmp"):
        return _compared(types[0], types[1], *given)
    if word == "select":
        return np.where(given[0].astype(bool), given[1], given[2])
    if word == "freeze":
        return given[0]
    if types:
        return _cast(word, types[0], kind, given[0])
    if kind in _FLOATS:
        made = _REAL[word](*given) if word in _REAL else None
        return None if made is None else made.astype(_FLOATS[kind])
    return _masked(_WHOLE[word](kind, *given), kind) if word in _WHOLE else None


def _compared(how: str, kind: str, a: Values, b: Values) -> Values | None:
    if kind in _FLOATS:
        unordered = np.isnan(a) | np.isnan(b)
        if how in ("ord", "uno"):
            return (unordered if how == "uno" else ~unordered).astype(np.uint64)
        if how[1:] not in _ORDER:
            return None
        found = _ORDER[how[1:]](a, b)
        return np.asarray(found | unordered if how[0] == "u" else found & ~unordered).astype(np.uint64)
    if how[0] == "s":
        a, b = _signed(a, kind), _signed(b, kind)
    found = _ORDER[how if how in ("eq", "ne") else how[1:]](a, b)
    return np.asarray(found).astype(np.uint64)


def _cast(word: str, source: str, kind: str, a: Values) -> Values | None:
    match word:
        case "trunc":
            return _masked(a, kind)
        case "zext":
            return a
        case "sext":
            return _masked(_signed(a, source).view(np.uint64), kind)
        case "fptrunc" | "fpext":
            return a.astype(_FLOATS[kind])
        case "uitofp":
            return a.astype(_FLOATS[kind])
        case "sitofp":
            return _signed(a, source).astype(_FLOATS[kind])
        case "fptosi":
            return _masked(a.astype(np.int64).view(np.uint64), kind)
        case "fptoui":
            return _masked(a.astype(np.uint64), kind)
        case "bitcast" if kind in _FLOATS and source in ("i32", "i64"):
            return a.astype(np.uint32).view(np.float32) if source == "i32" else a.view(np.float64)
        case "bitcast" if source in _FLOATS and kind in ("i32", "i64"):
            return a.view(np.uint32).astype(np.uint64) if kind == "i32" else a.view(np.uint64)
    return None


def _divided(kind: str, a: Values, b: Values) -> tuple[Values, Values]:
    """Quotient and remainder of signed numbers, rounded towards zero."""
    x, y = _signed(a, kind), _signed(b, kind)
    safe = np.where(y == 0, 1, y)
    quotient = (np.abs(x) // np.abs(safe)) * np.sign(x) * np.sign(safe)
    return quotient.view(np.uint64), (x - quotient * safe).view(np.uint64)


def _shifted(kind: str, a: Values, b: Values, how: str) -> Values:
    by = np.minimum(b, np.uint64(63))
    value = a << by if how == "shl" else a >> by if how == "lshr" else (_signed(a, kind) >> by.astype(np.int64))
    return np.where(b < _bits(kind), np.asarray(value).view(np.uint64), np.uint64(0))


def _turned(kind: str, high: Values, low: Values, by: Values, *, is_left: bool) -> Values:
    bits = np.uint64(_bits(kind))
    by = by % bits
    left, right = (by, bits - by) if is_left else (bits - by, by)
    return np.where(left >= bits, low, np.where(right >= bits, high, (high << left) | (low >> right)))


def _zeros_before(kind: str, a: Values, *, is_leading: bool) -> Values:
    bits, found = _bits(kind), np.full(a.shape, _bits(kind), np.uint64)
    for place in range(bits) if is_leading else reversed(range(bits)):
        is_set = (a >> np.uint64(place) & np.uint64(1)).astype(bool)
        found = np.where(is_set, np.uint64(bits - 1 - place if is_leading else place), found)
    return found


def _reversed(kind: str, a: Values, unit: int) -> Values:
    """The groups of `unit` bits in the other order."""
    made, mask = np.zeros_like(a), np.uint64((1 << unit) - 1)
    for place in range(0, _bits(kind), unit):
        made |= (a >> np.uint64(place) & mask) << np.uint64(_bits(kind) - unit - place)
    return made


def _least(kind: str, a: Values, b: Values, *, is_most: bool) -> Values:
    return np.where((_signed(a, kind) > _signed(b, kind)) == is_most, a, b)


_ORDER: Mapping[str, Callable[[Values, Values], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}
_WHOLE: Mapping[str, Callable[..., Values]] = {
    "add": lambda kind, a, b: a + b,
    "sub": lambda kind, a, b: a - b,
    "mul": lambda kind, a, b: a * b,
    "and": lambda kind, a, b: a & b,
    "or": lambda kind, a, b: a | b,
    "xor": lambda kind, a, b: a ^ b,
    "udiv": lambda kind, a, b: a // np.maximum(b, np.uint64(1)),
    "urem": lambda kind, a, b: a % np.maximum(b, np.uint64(1)),
    "sdiv": lambda kind, a, b: _divided(kind, a, b)[0],
    "srem": lambda kind, a, b: _divided(kind, a, b)[1],
    "shl": lambda kind, a, b: _shifted(kind, a, b, "shl"),
    "lshr": lambda kind, a, b: _shifted(kind, a, b, "lshr"),
    "ashr": lambda kind, a, b: _shifted(kind, a, b, "ashr"),
    "umin": lambda kind, a, b: np.minimum(a, b),
    "umax": lambda kind, a, b: np.maximum(a, b),
    "smin": lambda kind, a, b: _least(kind, a, b, is_most=False),
    "smax": lambda kind, a, b: _least(kind, a, b, is_most=True),
    "abs": lambda kind, a, _: np.abs(_signed(a, kind)).view(np.uint64),
    "ctpop": lambda kind, a: np.bitwise_count(a).astype(np.uint64),
    "ctlz": lambda kind, a, _: _zeros_before(kind, a, is_leading=True),
    "cttz": lambda kind, a, _: _zeros_before(kind, a, is_leading=False),
    "fshl": lambda kind, a, b, by: _turned(kind, a, b, by, is_left=True),
    "fshr": lambda kind, a, b, by: _turned(kind, a, b, by, is_left=False),
    "bitreverse": lambda kind, a: _reversed(kind, a, 1),
    "bswap": lambda kind, a: _reversed(kind, a, 8),
}
_REAL: Mapping[str, Callable[..., Values]] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmul": np.multiply,
    "fdiv": np.divide,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "roundeven": np.rint,
    "fabs": np.abs,
    "sqrt": np.sqrt,
    "minnum": np.fmin,
    "maxnum": np.fmax,
    "fmuladd": lambda a, b, c: a * b + c,
    "fma": lambda a, b, c: a * b + c,
}
