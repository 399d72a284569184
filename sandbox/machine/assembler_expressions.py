"""Expressions of the assembler: 64-bit integers, symbols, the functions that LLVM writes into kernel descriptors."""

from __future__ import annotations

import re
from collections.abc import Callable

from sandbox.machine.operands import integer
from sandbox.machine.unreadable import UnreadableListing

MAX_LENGTH = 65536  # characters of an expression
_MAX_DEPTH = 30
_TOKEN = re.compile(
    r"\s*(0[xX][0-9a-fA-F]+|0b[01]+|\d+|[A-Za-z_.$][\w.$]*(?:@[\w@]+)?"
    r'|"[^"]*"|<<|>>|<=|>=|==|!=|&&|\|\||\S)'
)
_OPERATORS_BY_LEVEL = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVELS = {operator: level for level, row in enumerate(_OPERATORS_BY_LEVEL) for operator in row}
_MASK = (1 << 64) - 1


def evaluate(text: str, symbol: Callable[[str], int]) -> int:
    """Compute the signed value of an expression in 64 bits; `symbol` gives a name's value or refuses it."""
    if len(text) > MAX_LENGTH:
        raise UnreadableListing("this expression is too long", text[:80])
    reader = _ExpressionReader(_TOKEN.findall(text), symbol, text)
    try:
        value = reader.binary(0, 0)
    except RecursionError:
        raise UnreadableListing("this expression is nested too deeply", text[:80]) from None
    if reader.next:
        raise UnreadableListing("this expression is not understood", text[:80])
    return value


class _ExpressionReader:
    def __init__(self, tokens: list[str], symbol: Callable[[str], int], text: str) -> None:
        self.tokens, self.symbol, self.text, self.position = tokens, symbol, text, 0

    @property
    def next(self) -> str:
        """The token that comes, empty at the end."""
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        """Go one token on."""
        token = self.next
        if not token or (expected and token != expected):
            raise UnreadableListing("this expression is not understood", self.text[:80])
        self.position += 1
        return token

    def binary(self, level: int, depth: int) -> int:
        """Read operators of this level and tighter ones."""
        value = self.unary(depth)
        while (tightness := _LEVELS.get(self.next, -1)) >= level:
            operator = self.take()
            value = _signed(self.apply(operator, value, self.binary(tightness + 1, depth)))
        return value

    def unary(self, depth: int) -> int:
        """Read a number, a symbol, a function, or something in brackets."""
        if depth > _MAX_DEPTH:
            raise UnreadableListing("this expression is nested too deeply", self.text[:80])
        token = self.take()
        if token in "-+~!":
            value = self.unary(depth + 1)
            return _signed({"-": -value, "+": value, "~": ~value, "!": int(not value)}[token])
        if token == "(":
            value = self.binary(0, depth + 1)
            self.take(")")
            return value
        if token[0].isdigit():
            return _signed(integer(token))
        if self.next == "(" and token in _FUNCTIONS:
            return self.function(token, depth)
        if token[0].isalpha() or token[0] in '_.$"':
            return _signed(self.symbol(token.strip('"')))
        raise UnreadableListing("this expression is not understood", self.text[:80])

    def function(self, name: str, depth: int) -> int:
        """Read a call such as max(a, b)."""
        self.take("(")
        values = [self.binary(0, depth + 1)]
        while self.next == ",":
            self.take()
            values.append(self.binary(0, depth + 1))
        self.take(")")
        try:
            return _signed(_FUNCTIONS[name](*values))
        except (TypeError, ZeroDivisionError):
            raise UnreadableListing("this function takes other arguments", name) from None

    def apply(self, operator: str, left: int, right: int) -> int:
        """Apply one operator to two values of 64 bits."""
        if operator in "/%" and right == 0:
            raise UnreadableListing("this expression divides by zero", self.text[:80])
        if operator in ("<<", ">>") and not 0 <= right < 64:
            raise UnreadableListing("this expression shifts too far", self.text[:80])
        return _OPERATORS[operator](left, right)


def _signed(value: int) -> int:
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


def _quotient(left: int, right: int) -> int:
    value = abs(left) // abs(right)
    return -value if (left < 0) != (right < 0) else value


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: (a & _MASK) >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: -int(a == b),
    "!=": lambda a, b: -int(a != b),
    "<": lambda a, b: -int(a < b),
    "<=": lambda a, b: -int(a <= b),
    ">": lambda a, b: -int(a > b),
    ">=": lambda a, b: -int(a >= b),
    "&&": lambda a, b: int(bool(a and b)),
    "||": lambda a, b: int(bool(a or b)),
}


def _either(*values: int) -> int:
    result = 0
    for value in values:
        result |= value
    return result


def _aligned(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _total_vectors(accumulation: int, vectors: int) -> int:
    """Count the registers of one file that holds both kinds, accumulation registers from a multiple of four on."""
    return _aligned(vectors, 4) + accumulation if accumulation else vectors


_FUNCTIONS: dict[str, Callable[..., int]] = {
    "max": max,
    "min": min,
    "or": _either,
    "alignto": _aligned,
    "totalnumvgprs": _total_vectors,
    "extrasgprs": lambda vcc, flat, xnack: 6 if flat or xnack else 2 if vcc else 0,
}
