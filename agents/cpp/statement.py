"""Statements of a kernel's body: declarations, assignments, `if`, `for`, `return`. Others are not understood."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from agents.cpp.expression import TYPE_WORDS, Expression, LexemeReader, NotUnderstood, tokens

Form = Literal["declare", "expression", "if", "for", "while", "return", "continue", "break", "block", "empty"]
_PRAGMA = re.compile(r"(?:^|\n)[ \t]*#[ \t]*pragma[^\n]*\n\s*\Z")


@dataclass(frozen=True)
class Declared:
    """One name that a declaration makes."""

    name: str
    is_pointer: bool
    value: Expression | None


@dataclass(frozen=True)
class BodyStatement:
    """A statement with its span, a pragma before it included; only the fields of its form are set."""

    form: Form
    start: int
    end: int
    type: str = ""  # of a declaration, without what belongs to one name
    declared: tuple[Declared, ...] = ()
    value: Expression | None = None  # the expression, or the condition of `if`, `for` and `while`
    first: BodyStatement | None = None  # of `for`
    step: Expression | None = None  # of `for`
    body: tuple[BodyStatement, ...] = ()  # of `for`, `if` and a block; braces are left out
    other: tuple[BodyStatement, ...] = ()  # behind `else`

    def walk(self) -> Iterator[BodyStatement]:
        """Walk the statement and all that it holds."""
        yield self
        for part in (*((self.first,) if self.first else ()), *self.body, *self.other):
            yield from part.walk()

    def nodes(self) -> Iterator[Expression]:
        """Every expression in it and in what it holds, each with its parts."""
        for part in self.walk():
            for node in (part.value, part.step, *(d.value for d in part.declared)):
                if node:
                    yield from node.walk()

    def names(self) -> frozenset[str]:
        """List the names that its expressions use."""
        return frozenset(n.value for n in self.nodes() if n.kind == "name")

    def makes(self) -> frozenset[str]:
        """List the names that it declares, in what it holds as well."""
        return frozenset(d.name for part in self.walk() for d in part.declared)


def parse_body(code: str, start: int, end: int, *, is_lenient: bool = False) -> tuple[BodyStatement, ...]:
    """Parse the statements between the braces of a function; NotUnderstood when one of them is not.

    A `while` and commas between expressions are read for whoever rewrites them; all others know `for` only.
    """
    reader = LexemeReader(tokens(code, start, end))
    reader.is_lenient = is_lenient
    statements: list[BodyStatement] = []
    while reader.peek():
        statements.append(_statement(reader, code))
    return tuple(statements)


def _statement(reader: LexemeReader, code: str) -> BodyStatement:
    if not reader.peek():
        raise NotUnderstood("the end of the text in a statement")
    first = reader.words[reader.position]
    statement = _plain_statement(reader, code)
    pragma = _PRAGMA.search(code, 0, first.start)
    if pragma:
        start = pragma.start() + pragma.group().index("#")
        statement = replace(statement, start=start)
    return replace(statement, end=reader.words[reader.position - 1].end)


def _plain_statement(reader: LexemeReader, code: str) -> BodyStatement:
    start, word = reader.words[reader.position].start, reader.peek()
    match word:
        case "{":
            return BodyStatement("block", start, 0, body=_block(reader, code))
        case ";":
            reader.take()
            return BodyStatement("empty", start, 0)
        case "if":
            return _if(reader, code, start)
        case "for":
            return _for(reader, code, start)
        case "return" | "continue" | "break":
            reader.take()
            reader.take(";")
            form: Form = "return" if word == "return" else "continue" if word == "continue" else "break"
            return BodyStatement(form, start, 0)
        case "while" if reader.is_lenient:
            return _while(reader, code, start)
        case "while" | "do" | "switch" | "goto" | "case" | "default" | "asm" | "__shared__" | "using" | "typedef":
            raise NotUnderstood(word)
    statement = _declaration(reader, start) or _expression(reader, start)
    reader.take(";")
    return statement


def _expression(reader: LexemeReader, start: int) -> BodyStatement:
    return BodyStatement("expression", start, 0, value=_listed(reader))


def _listed(reader: LexemeReader) -> Expression:
    """One expression, or several with commas between them where all is read."""
    first = reader.expression()
    parts = [first]
    while reader.is_lenient and reader.peek() == ",":
        reader.take()
        parts.append(reader.expression())
    return first if len(parts) == 1 else Expression("binary", ",", tuple(parts), first.start, parts[-1].end)


def _block(reader: LexemeReader, code: str) -> tuple[BodyStatement, ...]:
    reader.take("{")
    statements: list[BodyStatement] = []
    while reader.peek() != "}":
        statements.append(_statement(reader, code))
    reader.take("}")
    return tuple(statements)


def _inside(reader: LexemeReader, code: str) -> tuple[BodyStatement, ...]:
    return _block(reader, code) if reader.peek() == "{" else (_statement(reader, code),)


def _if(reader: LexemeReader, code: str, start: int) -> BodyStatement:
    reader.take("if")
    reader.take("(")
    condition = reader.expression()
    reader.take(")")
    body = _inside(reader, code)
    other: tuple[BodyStatement, ...] = ()
    if reader.peek() == "else":
        reader.take()
        other = _inside(reader, code)
    return BodyStatement("if", start, 0, value=condition, body=body, other=other)


def _while(reader: LexemeReader, code: str, start: int) -> BodyStatement:
    reader.take("while")
    reader.take("(")
    condition = reader.expression()
    reader.take(")")
    return BodyStatement("while", start, 0, value=condition, body=_inside(reader, code))


def _for(reader: LexemeReader, code: str, start: int) -> BodyStatement:
    reader.take("for")
    reader.take("(")
    head_start = reader.words[reader.position].start
    first = None if reader.peek() == ";" else _declaration(reader, head_start) or _expression(reader, head_start)
    reader.take(";")
    condition = None if reader.peek() == ";" else reader.expression()
    reader.take(";")
    step = None if reader.peek() == ")" else _listed(reader)
    reader.take(")")
    return BodyStatement("for", start, 0, first=first, value=condition, step=step, body=_inside(reader, code))


def _declaration(reader: LexemeReader, start: int) -> BodyStatement | None:
    """Read a declaration up to its semicolon; None where no type stands."""
    begin = reader.position
    while reader.peek() in TYPE_WORDS:
        reader.take()
    if reader.position == begin or reader.peek() == "(":
        reader.position = begin
        return None
    kind = " ".join(w.text for w in reader.words[begin : reader.position] if "restrict" not in w.text)
    declared: list[Declared] = []
    while True:
        is_pointer = False
        while reader.peek() in ("*", "const", "__restrict__", "__restrict"):
            is_pointer |= reader.take().text == "*"
        name = reader.take()
        if name.kind != "name" or reader.peek() not in ("=", ";", ","):
            raise NotUnderstood(f"a declaration of {name.text}")
        value = None
        if reader.peek() == "=":
            reader.take()
            if reader.peek() == "{":
                raise NotUnderstood("a list of values")
            value = reader.expression()
        declared.append(Declared(name.text, is_pointer, value))
        if reader.peek() != ",":
            return BodyStatement(
                "declare", start, reader.words[reader.position - 1].end, type=kind, declared=tuple(declared)
            )
        reader.take()
