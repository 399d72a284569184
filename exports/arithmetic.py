"""A plan's integer expressions in C++: 64 bits, with the floor division and the modulo of Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from records.errors import PlanError

FUNCTIONS = """\
namespace plan {
// The arithmetic of the launch plan. A division by zero gives 0.
[[maybe_unused]] inline long long floor_div(long long a, long long b) {
    return b == 0 ? 0 : a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
[[maybe_unused]] inline long long floor_mod(long long a, long long b) { return b == 0 ? 0 : a - floor_div(a, b) * b; }
[[maybe_unused]] inline long long ceil_div(long long a, long long b) { return b == 0 ? 0 : -floor_div(-a, b); }
[[maybe_unused]] inline bool is_before(long long a, long long b, long long step) { return step > 0 ? a < b : a > b; }
[[maybe_unused]] inline long long left(long long a, long long by) {
    return by < 0 || by > 63 ? 0 : static_cast<long long>(static_cast<unsigned long long>(a) << by);
}
[[maybe_unused]] inline long long right(long long a, long long by) { return by < 0 || by > 63 ? 0 : a >> by; }
[[maybe_unused]] inline long long log2(long long a) {
    long long bits = -1;
    for (; a > 0; a >>= 1) ++bits;
    return bits;
}
[[maybe_unused]] inline long long least(long long a, long long b) { return a < b ? a : b; }
[[maybe_unused]] inline long long most(long long a, long long b) { return a > b ? a : b; }
}  // namespace plan
"""
_PLAIN: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_CALLED: Mapping[type[ast.operator], str] = {
    ast.FloorDiv: "plan::floor_div",
    ast.Mod: "plan::floor_mod",
    ast.LShift: "plan::left",
    ast.RShift: "plan::right",
}
_REAL: Mapping[str, str] = {
    "sqrt": "sqrt",
    "exp": "exp",
    "log": "log",
    "log2": "log2",
    "abs": "fabs",
    "min": "fmin",
    "max": "fmax",
}
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
    """Write the expression with each name replaced by its C++ text; PlanError for what `tasks.expressions` refuses."""
    return _integer(ast.parse(text, mode="eval").body, names, text)


def real_in_cpp(text: str, names: Mapping[str, str]) -> str:
    """Write a floating-point expression of an argument, in double."""
    return _real(ast.parse(text, mode="eval").body, names, text)


def _real(node: ast.expr, names: Mapping[str, str], text: str) -> str:
    match node:
        case ast.Constant(value=float() | int() as number) if not isinstance(number, bool):
            return float(number).hex()
        case ast.Name(id="inf" | "nan" as name):
            return "HUGE_VAL" if name == "inf" else "NAN"
        case ast.Name(id=name) if name in names:
            return f"static_cast<double>({names[name]})"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_real(operand, names, text)})"
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return f"pow({_real(left, names, text)}, {_real(right, names, text)})"
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return f"({_real(left, names, text)} / {_real(right, names, text)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _PLAIN:
            return f"({_real(left, names, text)} {_PLAIN[type(op)]} {_real(right, names, text)})"
        case ast.IfExp(test=test, body=body, orelse=other):
            return f"({_integer(test, names, text)} ? {_real(body, names, text)} : {_real(other, names, text)})"
        case ast.Call(func=ast.Name(id=name), args=[first, *others], keywords=[]) if name in _REAL:
            call = _real(first, names, text)
            if not others:
                return f"{_REAL[name]}({call})"
            for other in others:
                call = f"{_REAL[name]}({call}, {_real(other, names, text)})"
            return call
    return f"static_cast<double>({_integer(node, names, text)})"


def condition_in_cpp(text: str, names: Mapping[str, str]) -> str:
    """Comparisons joined by `and`."""
    return " && ".join(in_cpp(part.strip(), names) for part in text.split(" and "))


def _integer(node: ast.expr, names: Mapping[str, str], text: str) -> str:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return f"{number}ll"
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _PLAIN:
            return f"({_integer(left, names, text)} {_PLAIN[type(op)]} {_integer(right, names, text)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _CALLED:
            return f"{_CALLED[type(op)]}({_integer(left, names, text)}, {_integer(right, names, text)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_integer(operand, names, text)})"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            return f"({_integer(left, names, text)} {_COMPARED[type(op)]} {_integer(right, names, text)})"
        case ast.BoolOp(op=op, values=parts):
            word = " && " if isinstance(op, ast.And) else " || "
            return f"({word.join(_integer(part, names, text) for part in parts)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"(!{_integer(operand, names, text)})"
        case ast.IfExp(test=test, body=body, orelse=other):
            return f"({_integer(test, names, text)} ? {_integer(body, names, text)} : {_integer(other, names, text)})"
        case ast.Call(func=ast.Name(id="log2"), args=[operand], keywords=[]):
            return f"plan::log2({_integer(operand, names, text)})"
        case ast.Call(func=ast.Name(id=name), args=[first, *others], keywords=[]) if name in _FOLDED:
            call = _integer(first, names, text)
            for other in others:
                call = f"{_FOLDED[name]}({call}, {_integer(other, names, text)})"
            return call
    raise PlanError(f"the expression {text!r} cannot be written in C++")
