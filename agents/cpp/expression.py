"""Expressions of C++ as trees whose nodes know their place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["name", "number", "call", "index", "member", "unary", "postfix", "binary", "ternary", "cast", "assign"]
_TOKEN = re.compile(
    r"\s+|(?P<name>[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)"
    r"|(?P<operator><<=|>>=|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||[-+*/%<>=!&|^~?:.,;()\[\]{}#])"
)
_WIDTHS = ("8", "16", "32", "64")
_FIXED = tuple(f"{space}{sign}int{width}_t" for space in ("", "std::") for sign in ("", "u") for width in _WIDTHS)
_WORDS = """
const volatile constexpr auto __restrict__ __restrict unsigned signed char short int long float double bool size_t
std::size_t ptrdiff_t uint uchar ushort ulong half __half __half2 _Float16 __hip_bfloat16 hip_bfloat16 float2 float4
int2 int4
"""
TYPE_WORDS = frozenset((*_WORDS.split(), *_FIXED))
_LEVELS = {
    level: rank
    for rank, group in enumerate(("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"), start=1)
    for level in group.split()
}
_ASSIGN = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="))


class NotUnderstood(ValueError):
    """The text is C++ that this package does not read."""


@dataclass(frozen=True)
class Lexeme:
    """A word of the text with its span."""

    text: str
    start: int
    end: int
    kind: str  # name, number or operator


@dataclass(frozen=True)
class Expression:
    """A part of an expression; `value` is the operator, the name, the number or the type of a cast."""

    kind: Kind
    value: str
    parts: tuple[Expression, ...]
    start: int
    end: int

    def walk(self) -> Iterator[Expression]:
        """Walk the node and everything in it, from the left."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def names(self) -> frozenset[str]:
        """Every name in it, those of functions and members left out."""
        return frozenset(n.value for n in self.walk() if n.kind == "name")


def tokens(code: str, start: int, end: int) -> list[Lexeme]:
    """List the words of a span of masked code; lines of `#pragma` are left out, other directives are not understood."""
    lexemes: list[Lexeme] = []
    offset = start
    while offset < end:
        match = _TOKEN.match(code, offset, end)
        if not match or match.end() == offset:
            raise NotUnderstood(f"unknown text at {offset}")
        if match.group() == "#":
            line = code.find("\n", offset)
            if not re.match(r"#\s*pragma\b", code[offset:end]) or line < 0 or code[offset:line].rstrip().endswith("\\"):
                raise NotUnderstood("a directive inside a kernel")
            offset = line
            continue
        if match.lastgroup:
            lexemes.append(Lexeme("".join(match.group().split()), match.start(), match.end(), match.lastgroup))
        offset = match.end()
    return lexemes


class LexemeReader:
    """A place in a list of words."""

    def __init__(self, words: list[Lexeme], position: int = 0) -> None:
        """Start at a word."""
        self.words, self.position = words, position
        self.is_lenient = False  # whether a `while` and commas between expressions are read

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a word, empty behind the last."""
        index = self.position + ahead
        return self.words[index].text if index < len(self.words) else ""

    def take(self, expected: str = "") -> Lexeme:
        """Take the next word; NotUnderstood when it is another than expected."""
        if self.position >= len(self.words) or (expected and self.peek() != expected):
            raise NotUnderstood(f"expected {expected or 'more'}, not {self.peek() or 'the end'}")
        self.position += 1
        return self.words[self.position - 1]

    def expression(self) -> Expression:
        """Read an expression without a comma at its top."""
        left = self._ternary()
        if self.peek() in _ASSIGN:
            operator = self.take().text
            right = self.expression()
            return Expression("assign", operator, (left, right), left.start, right.end)
        return left

    def _ternary(self) -> Expression:
        condition = self._binary(1)
        if self.peek() != "?":
            return condition
        self.take()
        if_true = self.expression()
        self.take(":")
        if_false = self.expression()
        return Expression("ternary", "?", (condition, if_true, if_false), condition.start, if_false.end)

    def _binary(self, level: int) -> Expression:
        left, compared = self._unary(), False
        while (rank := _LEVELS.get(self.peek(), 0)) >= level:
            if compared and rank == _LEVELS["<"]:
                raise NotUnderstood("a comparison of a comparison, or the arguments of a template")
            compared = rank == _LEVELS["<"]
            operator = self.take().text
            right = self._binary(rank + 1)
            left = Expression("binary", operator, (left, right), left.start, right.end)
        return left

    def _unary(self) -> Expression:
        first = self.peek()
        if first in ("-", "+", "!", "~", "&", "*", "++", "--"):
            token = self.take()
            inner = self._unary()
            return Expression("unary", first, (inner,), token.start, inner.end)
        if first == "(" and (closing := self._type_until(self.position + 1, ")")):
            token = self.take()
            kind = " ".join(w.text for w in self.words[self.position : closing])
            self.position = closing + 1
            inner = self._unary()
            return Expression("cast", kind, (inner,), token.start, inner.end)
        return self._postfix()

    def _type_until(self, start: int, end: str) -> int:
        """Find the place of the word that ends a type; 0 where what stands there is no type."""
        index = start
        while index < len(self.words) and (
            self.words[index].text in TYPE_WORDS or (index > start and self._is_star(index))
        ):
            index += 1
        return index if start < index < len(self.words) and self.words[index].text == end else 0

    def _is_star(self, index: int) -> bool:
        return self.words[index].text == "*"

    def _postfix(self) -> Expression:
        node = self._primary()
        while True:
            following = self.peek()
            if following == "[":
                self.take()
                inside = self.expression()
                node = Expression("index", "[", (node, inside), node.start, self.take("]").end)
            elif following == ".":
                self.take()
                member = self.take()
                if member.kind != "name":
                    raise NotUnderstood("no member behind a dot")
                node = Expression("member", member.text, (node,), node.start, member.end)
            elif following in ("++", "--"):
                node = Expression("postfix", following, (node,), node.start, self.take().end)
            else:
                return node

    def _primary(self) -> Expression:
        token = self.take()
        if token.text == "(":
            inner = self.expression()
            return Expression(inner.kind, inner.value, inner.parts, token.start, self.take(")").end)
        if token.kind == "number":
            return Expression("number", token.text, (), token.start, token.end)
        if token.kind != "name" or token.text in ("sizeof", "new", "delete", "reinterpret_cast", "const_cast"):
            raise NotUnderstood(f"no value: {token.text}")
        if token.text == "static_cast" and self.peek() == "<" and (closing := self._type_until(self.position + 1, ">")):
            kind = " ".join(w.text for w in self.words[self.position + 1 : closing])
            self.position = closing + 1
            self.take("(")
            inner = self.expression()
            return Expression("cast", kind, (inner,), token.start, self.take(")").end)
        if self.peek() != "(":
            return Expression("name", token.text, (), token.start, token.end)
        self.take()
        arguments: list[Expression] = []
        while self.peek() != ")":
            arguments.append(self.expression())
            if self.peek() != ")":
                self.take(",")
        end = self.take(")").end
        if token.text in TYPE_WORDS and len(arguments) == 1:
            return Expression("cast", token.text, tuple(arguments), token.start, end)
        return Expression("call", token.text, tuple(arguments), token.start, end)


def parse_expression(code: str, start: int, end: int) -> Expression:
    """Read a span of masked code that holds one expression."""
    reader = LexemeReader(tokens(code, start, end))
    node = reader.expression()
    if reader.peek():
        raise NotUnderstood(f"more behind the expression: {reader.peek()}")
    return node


def joined(node: Expression, operator: str) -> Iterator[Expression]:
    """Yield the parts of a chain of one operator, such as `&&`, from the left."""
    if node.kind == "binary" and node.value == operator:
        for part in node.parts:
            yield from joined(part, operator)
    else:
        yield node
