"""Integer expressions of task files and launch plans: an `ast` white-list, nothing else.

Integers, names, `+ - * // % << >>`, comparisons, `and or not`, `A if C else B`, `min max ceil_div log2`. No `**`, no
`/`, no attribute, no other call.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from records.errors import PlanError

LIMIT = 2**63
MAX_LENGTH = 500  # characters: keeps the nesting far below the interpreter's own limit
_BINARY: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: lambda a, b: a << b if 0 <= b < 64 else _no_shift(),
    ast.RShift: lambda a, b: a >> b if 0 <= b < 64 else _no_shift(),
}
_BINARY_COLUMNS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    **_BINARY,
    ast.LShift: np.left_shift,
    ast.RShift: np.right_shift,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_CALLS: Mapping[str, Callable[..., int]] = {
    "min": min,
    "max": max,
    "ceil_div": lambda a, b: -(-a // b),
    "log2": lambda a: a.bit_length() - 1 if a > 0 else _no_logarithm(),  # rounded down
}


def evaluate(text: str, names: Mapping[str, int]) -> int:
    """Value of the expression; PlanError says what is not allowed, unknown or out of range."""
    if len(text) > MAX_LENGTH:
        raise PlanError(f"the expression {text[:40]!r}... is longer than {MAX_LENGTH} characters")
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PlanError(f"the expression {text!r} cannot be read: {getattr(error, 'msg', error)}") from None
    try:
        value = _value(tree, names)
    except ZeroDivisionError:
        raise PlanError(f"the expression {text!r} divides by zero") from None
    except TypeError:
        raise PlanError(f"the expression {text!r} calls a function with the wrong number of arguments") from None
    except PlanError as error:
        raise PlanError(f"in the expression {text!r}: {error}") from None
    return int(value)


def tree_of(text: str) -> ast.expr:
    """The tree of an expression, to be read only; whatever `ast.parse` raises where it is none."""
    return _tree(text) if len(text) <= MAX_LENGTH else ast.parse(text, mode="eval").body


@lru_cache(maxsize=1024)  # a plan is resolved for hundreds of shapes
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def names_in(text: str) -> frozenset[str]:
    """The names an expression needs, functions left out; empty when it cannot be parsed."""
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name)) - frozenset(_CALLS)


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            value = number
        case ast.Name(id=name):
            if name not in names:
                raise PlanError(f"{name!r} is not known here; known are {', '.join(sorted(names)) or 'no names'}")
            value = names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            value = _BINARY[type(op)](_value(left, names), _value(right, names))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = -_value(operand, names)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            value = int(_COMPARE[type(op)](_value(left, names), _value(right, names)))
        case ast.BoolOp(op=op, values=parts):
            value = int(all(_value(p, names) for p in parts) if isinstance(op, ast.And) else _any(parts, names))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = int(not _value(operand, names))
        case ast.IfExp(test=test, body=body, orelse=other):
            value = _value(body if _value(test, names) else other, names)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS and args:
            value = _CALLS[name](*(_value(a, names) for a in args))
        case _:
            raise PlanError(
                f"{ast.unparse(node)!r} is not allowed; use integers, names, + - * // % << >>, "
                "comparisons, and, or, not, A if C else B, min, max, ceil_div and log2"
            )
    if not -LIMIT < value < LIMIT:
        raise PlanError("a value does not fit into 63 bits")
    return value


Column = npt.NDArray[np.int64]
_COLUMN_CALLS: Mapping[str, Callable[..., Any]] = {
    "min": lambda *parts: reduce(np.minimum, parts),
    "max": lambda *parts: reduce(np.maximum, parts),
    "ceil_div": lambda a, b: -(-a // b),
    "log2": lambda a: np.frexp(np.maximum(a, 1).astype(np.float64))[1] - 1,
}


def evaluate_column(text: str, columns: Mapping[str, Column]) -> Column:
    """Evaluate the expression for a column of each name at once, int64.

    For thousands of shapes of which each is executed before anything is made of it: what `evaluate` refuses is some
    number here. PlanError where the expression cannot be evaluated at all.
    """
    try:
        with np.errstate(all="ignore"):
            return np.asarray(_column(tree_of(text), columns), np.int64)
    except (SyntaxError, ValueError, RecursionError, MemoryError, KeyError, TypeError) as error:
        raise PlanError(f"the expression {text!r} has no columns: {error}") from None


def _column(node: ast.expr, columns: Mapping[str, Column]) -> Any:
    match node:
        case ast.Constant(value=int() as number):
            return np.int64(number)
        case ast.Name(id=name):
            return columns[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY_COLUMNS[type(op)](_column(left, columns), _column(right, columns))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_column(operand, columns)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _column(operand, columns) == 0
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _COMPARE[type(op)](_column(left, columns), _column(right, columns))
        case ast.BoolOp(op=op, values=parts):
            combine = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return reduce(combine, (_column(part, columns) for part in parts))
        case ast.IfExp(test=test, body=body, orelse=other):
            return np.where(_column(test, columns), _column(body, columns), _column(other, columns))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _COLUMN_CALLS[name](*(_column(each, columns) for each in args))
    raise ValueError(ast.unparse(node))


def _any(parts: list[ast.expr], names: Mapping[str, int]) -> bool:
    return any(_value(part, names) for part in parts)


def _no_shift() -> int:
    raise PlanError("a shift is by 0 to 63 bits")


def _no_logarithm() -> int:
    raise PlanError("log2 needs a number above 0")
