"""Arithmetic of host code: whole numbers and sizes, floating-point numbers, helpers that are known by their names."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping

from imports.hosts.amounts import Amount, called, divided, joined, named, number, plus, times
from imports.hosts.types import Type
from imports.hosts.values import HostArray, Nothing, Pointer, Real, Value

NOTHING = Nothing()
ONE = number(1)
COMPARED: Mapping[str, Callable[[int, int], int]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
CEILING = re.compile(
    r"_*(ceil(ing)?_?div\w*|div_?(round_?)?up\w*|div_?ceil\w*|cdiv|c_div|i_?div_?up|up_?div|round_?up_?div|get_?num_?blocks)",
    re.I,
)
REAL = {"sqrt": math.sqrt, "exp": math.exp, "log": math.log}


def of_wholes(sign: str, left: Amount, right: Amount) -> Value:
    """Two whole numbers with an operator between them."""
    match sign:
        case "+":
            return plus(left, right)
        case "-":
            return plus(left, right, -1)
        case "*":
            return times(left, right)
        case "/":
            return divided(left, right)
        case "%":
            return joined(left, "%", right, operator.mod)
        case "<<":
            if right.constant is not None:
                return times(left, number(1 << right.constant))
            return joined(left, "<<", right, operator.lshift)
        case ">>":
            if right.constant is not None:
                return divided(left, number(1 << right.constant))
            return joined(left, ">>", right, operator.rshift)
        case "&&":
            return joined(left, "and", right, lambda a, b: int(bool(a and b)))
        case "||":
            return joined(left, "or", right, lambda a, b: int(bool(a or b)))
        case "&" if left.constant is not None and right.constant is not None:
            return number(left.constant & right.constant)
        case "&" if right.constant is not None and (right.constant + 1).bit_count() == 1:
            return joined(left, "%", number(right.constant + 1), operator.mod)
        case "|" if left.constant is not None and right.constant is not None:
            return number(left.constant | right.constant)
    if sign in COMPARED:
        return joined(left, sign, right, COMPARED[sign])
    return NOTHING


def of_reals(sign: str, left: Amount | Real, right: Amount | Real) -> Value:
    """Two numbers of which one is real with an operator between them."""
    of = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[sign]
    outcome = None if left.value is None or right.value is None else float(of(left.value, right.value))
    return Real(f"({left.text}) {sign} ({right.text})", outcome)


def of_function(name: str, arguments: list[Value]) -> Value | None:
    """Compute a function of the standard library, or a helper whose name says what it does; None for others."""
    amounts = [g for g in arguments if isinstance(g, Amount)]
    plain = name.split("::")[-1]
    if plain in ("min", "max") and len(amounts) == len(arguments) > 1:
        return called(plain, amounts, min if plain == "min" else max)
    if CEILING.fullmatch(plain) and len(amounts) == len(arguments) == 2:
        dividend, divisor = amounts
        return divided(plus(plus(dividend, divisor), ONE, -1), divisor)
    if (
        plain in ("sqrt", "sqrtf", "exp", "expf", "log", "logf")
        and len(arguments) == 1
        and isinstance(arguments[0], (Amount, Real))
    ):
        base_name = plain.removesuffix("f")
        operand = arguments[0].value
        return Real(f"{base_name}({arguments[0].text})", None if operand is None else REAL[base_name](operand))
    if plain in ("ceil", "ceilf") and len(arguments) == 1 and isinstance(arguments[0], Real):
        match = re.fullmatch(r"\((.*)\) / \((.*)\)", arguments[0].text)
        value = None if arguments[0].value is None else float(math.ceil(arguments[0].value))
        if match and "/" not in match[1] + match[2]:
            return Real(f"ceil(ceil_div({match[1].replace('.0', '')}, {match[2].replace('.0', '')}))", value)
    if plain == "log2" and len(amounts) == 1:
        return named(f"log2({amounts[0].text})", None if not amounts[0].value else amounts[0].value.bit_length() - 1)
    if plain in ("abs", "move", "forward", "ref", "static_cast") and len(arguments) == 1:
        return arguments[0]
    return None


def converted(kind: Type, value: Value) -> Value:
    """Convert the value to another type."""
    if isinstance(value, Pointer) and kind.stars:
        return Pointer(value.buffer, value.offset, kind)
    if isinstance(value, HostArray) and kind.stars and value.type.base in ("char", "void", ""):
        count, size = value.count, Type(kind.base).bytes
        return HostArray(value.name, Type(kind.base), divided(count, number(size)) if count and size else None)
    if isinstance(value, Amount) and kind.is_real:
        text = value.text if value.constant is None else repr(float(value.constant))
        return Real(text, None if value.value is None else float(value.value))
    if isinstance(value, Real) and kind.is_whole:
        ceiling = re.fullmatch(r"ceil\((.*)\)", value.text)
        return (
            named(ceiling[1], None if value.value is None else math.ceil(value.value))
            if ceiling
            else (
                number(int(value.value))
                if value.value is not None and re.fullmatch(r"[-\d.e+]+", value.text)
                else NOTHING
            )
        )
    return value
