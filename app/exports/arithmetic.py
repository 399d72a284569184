"""A plan's integer expressions in C++: 64 bits, with the floor division and the modulo of Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from records.errors import PlanError

FUNCTIONS = """\
namespace plan {
// The arithmetic of the launch plan. A division by zero gives 0.
inline long long floor_div(long long a, long long b) {
    return b == 0 ? 0 : a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
inline long long floor_mod(long long a, long long b) { return b == 0 ? 0 : a - floor_div(a, b) * b; }
inline long long ceil_div(long long a, long long b) { return b == 0 ? 0 : -floor_div(-a, b); }
inline long long least(long long a, long long b) { return a < b ? a : b; }
inline long long most(long long a, long long b) { return a > b ? a : b; }
}  // namespace plan
"""
_PLAIN: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_CALLED: Mapping[type[ast.operator], str] = {ast.FloorDiv: "plan::floor_div", ast.Mod: "plan::floor_mod"}
_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_FOLDED: Mapping[str, str] = {"min": "plan::least", "max": "plan::most", "ceil_div": "plan::ceil_div"}


def in_cpp(text: str, names: Mapping[str, str]) -> str:
    """The expression with each name replaced by its C++ text; PlanError for what `tasks.expressions` refuses."""
    return _of(ast.parse(text, mode="eval").body, names, text)


def condition_in_cpp(text: str, names: Mapping[str, str]) -> str:
    """Comparisons joined by `and`."""
    return " && ".join(in_cpp(part.strip(), names) for part in text.split(" and "))


def _of(node: ast.expr, names: Mapping[str, str], text: str) -> str:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return f"{number}ll"
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _PLAIN:
            return f"({_of(left, names, text)} {_PLAIN[type(op)]} {_of(right, names, text)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _CALLED:
            return f"{_CALLED[type(op)]}({_of(left, names, text)}, {_of(right, names, text)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_of(operand, names, text)})"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            return f"({_of(left, names, text)} {_COMPARED[type(op)]} {_of(right, names, text)})"
        case ast.Call(func=ast.Name(id=name), args=[first, *others], keywords=[]) if name in _FOLDED:
            made = _of(first, names, text)
            for other in others:
                made = f"{_FOLDED[name]}({made}, {_of(other, names, text)})"
            return made
    raise PlanError(f"the expression {text!r} cannot be written in C++")
