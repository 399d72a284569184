"""Integer expressions evaluated for a column of each name at once: thousands of shapes in one pass."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from records.errors import PlanError
from tasks.expressions import tree_of

Column = npt.NDArray[np.int64]
_OPERATORS: Mapping[type[ast.operator | ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: np.left_shift,
    ast.RShift: np.right_shift,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_CALLS: Mapping[str, Callable[..., Any]] = {
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
            return _OPERATORS[type(op)](_column(left, columns), _column(right, columns))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_column(operand, columns)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _column(operand, columns) == 0
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _OPERATORS[type(op)](_column(left, columns), _column(right, columns))
        case ast.BoolOp(op=op, values=parts):
            combine = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return reduce(combine, (_column(part, columns) for part in parts))
        case ast.IfExp(test=test, body=body, orelse=other):
            return np.where(_column(test, columns), _column(body, columns), _column(other, columns))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _CALLS[name](*(_column(argument, columns) for argument in args))
    raise ValueError(ast.unparse(node))
