"""Integer expressions of task files and launch plans: an `ast` white-list, nothing else.

Integers, names, `+ - * // % << >>`, comparisons, `and or not`, `A if C else B`, `min max ceil_div log2`. No `**`, no
`/`, no attribute, no other call.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NoReturn

from records.errors import PlanError

Reader = Callable[[Mapping[str, int]], int]
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
    """Evaluate the expression; PlanError says what is not allowed, unknown or out of range."""
    if text in names and -LIMIT < (number := names[text]) < LIMIT:
        return int(number)  # a name alone, as most extents are
    if len(text) > MAX_LENGTH:
        raise PlanError(f"the expression {text[:40]!r}... is longer than {MAX_LENGTH} characters")
    try:
        read = _compiled(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PlanError(f"the expression {text!r} cannot be read: {getattr(error, 'msg', error)}") from None
    try:
        value = read(names)
    except ZeroDivisionError:
        raise PlanError(f"the expression {text!r} divides by zero") from None
    except TypeError:
        raise PlanError(f"the expression {text!r} calls a function with the wrong number of arguments") from None
    except PlanError as error:
        raise PlanError(f"in the expression {text!r}: {error}") from None
    return int(value)


def tree_of(text: str) -> ast.expr:
    """Parse an expression into a tree, to be read only; whatever `ast.parse` raises where it is none."""
    return _tree(text) if len(text) <= MAX_LENGTH else ast.parse(text, mode="eval").body


@lru_cache(maxsize=1024)  # a plan is resolved for hundreds of shapes
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def names_in(text: str) -> frozenset[str]:
    """List the names an expression needs, functions left out; empty when it cannot be parsed."""
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name)) - frozenset(_CALLS)


@lru_cache(maxsize=1024)
def _compiled(text: str) -> Reader:
    return _reader(tree_of(text))


def _reader(node: ast.expr) -> Reader:
    """Turn the node into a function of the names' values; what is not allowed is told by who comes to it."""
    read = _unbounded(node)

    def bounded(names: Mapping[str, int]) -> int:
        value = read(names)
        if not -LIMIT < value < LIMIT:
            raise PlanError("a value does not fit into 63 bits")
        return value

    return bounded


def _unbounded(node: ast.expr) -> Reader:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return lambda _: number
        case ast.Name(id=name):
            return lambda names: names[name] if name in names else _unknown(name, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            binary, a, b = _BINARY[type(op)], _reader(left), _reader(right)
            return lambda names: binary(a(names), b(names))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            a = _reader(operand)
            return lambda names: -a(names)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            compared, a, b = _COMPARE[type(op)], _reader(left), _reader(right)
            return lambda names: int(compared(a(names), b(names)))
        case ast.BoolOp(op=op, values=values):
            parts, settled = [_reader(child) for child in values], all if isinstance(op, ast.And) else any
            return lambda names: int(settled(part(names) for part in parts))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            a = _reader(operand)
            return lambda names: int(not a(names))
        case ast.IfExp(test=test, body=body, orelse=other):
            condition, a, b = _reader(test), _reader(body), _reader(other)
            return lambda names: (a if condition(names) else b)(names)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS and args:
            called, parts = _CALLS[name], [_reader(child) for child in args]
            return lambda names: called(*[part(names) for part in parts])
    return lambda _: _refuse(node)


def _unknown(name: str, names: Mapping[str, int]) -> NoReturn:
    raise PlanError(f"{name!r} is not known here; known are {', '.join(sorted(names)) or 'no names'}")


def _refuse(node: ast.expr) -> NoReturn:
    raise PlanError(
        f"{ast.unparse(node)!r} is not allowed; use integers, names, + - * // % << >>, "
        "comparisons, and, or, not, A if C else B, min, max, ceil_div and log2"
    )


def _no_shift() -> NoReturn:
    raise PlanError("a shift is by 0 to 63 bits")


def _no_logarithm() -> NoReturn:
    raise PlanError("log2 needs a number above 0")
