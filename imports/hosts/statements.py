"""Reads the statements of a function's body."""

from __future__ import annotations

from collections.abc import Sequence

from imports.hosts.expression_reader import ExpressionReader
from imports.hosts.host_syntax import (
    Block,
    Braces,
    DeclaredVariable,
    Evaluated,
    If,
    Leave,
    Node,
    NotRead,
    RangeLoop,
    Repetition,
    Statement,
    Switch,
    Unknown,
)
from imports.hosts.types import QUALIFIERS, SIGNS
from imports.hosts.words import Word, closing

LEAVES = ("return", "break", "continue", "throw", "goto")
NO_TYPE = frozenset({"return", "delete", "else", "case", "default", "using", "typedef", "new", "throw", "goto"})


class StatementReader(ExpressionReader):
    """Reads statements; one that it cannot read is kept as its words."""

    def block(self) -> tuple[Statement, ...]:
        """All statements that are left."""
        statements = list[Statement]()
        while self.position < len(self.words):
            statements += self.statement()
        return tuple(statements)

    def statement(self) -> list[Statement]:
        """Read the next statement; several for the variables of one declaration."""
        start, line, depth = self.position, self.line, self.depth
        try:
            return self._read(line)
        except (ValueError, IndexError):
            self.position, self.depth = start, depth
            return [self._skipped(line)]

    def _read(self, line: int) -> list[Statement]:
        text = self.peek()
        if text == ";":
            self.position += 1
            return []
        if text == "{":
            return [Block(self._inner())]
        if text in LEAVES:
            self.position += 1
            value = None if self.peek() == ";" else self.expression()
            self.take(";")
            return [Leave(text, value, line)]
        if text in ("if", "for", "while", "do", "switch"):
            return [getattr(self, f"_{text}")(line)]
        declared = self._declaration(line)
        if declared is not None:
            return list(declared)
        value = self.expression()
        while self.peek() == ",":
            self.position += 1
            value = self.expression()
        self.take(";")
        return [Evaluated(value, line)]

    def _skipped(self, line: int) -> NotRead:
        """Everything up to the semicolon, or a block."""
        start, words = self.position, list(self.words)
        while self.position < len(words):
            text = words[self.position].text
            self.position = closing(words, self.position) + 1 if text in ("(", "[", "{") else self.position + 1
            if text == ";" or (text == "{" and self.peek() not in (";", ")", ",", ".", "else", "while")):
                break
        return NotRead(" ".join(w.text for w in words[start : self.position]), line)

    def _inner(self) -> tuple[Statement, ...]:
        end = closing(list(self.words), self.position)
        inner = StatementReader(self.words[self.position + 1 : end], self.macros, self.types)
        self.position = end + 1
        return inner.block()

    def _body(self) -> tuple[Statement, ...]:
        return self._inner() if self.peek() == "{" else tuple(self.statement())

    def _if(self, line: int) -> Statement:
        self.position += 1
        if self.peek() == "constexpr":
            self.position += 1
        end = closing(list(self.words), self.position)
        inner = StatementReader(
            [*self.words[self.position + 1 : end], Word(";", "mark", line)], self.macros, self.types
        )
        parts = inner.block()
        self.position = end + 1
        yes = self._body()
        no = tuple[Statement, ...]()
        if self.peek() == "else":
            self.position += 1
            no = self._body()
        last = parts[-1] if parts else None
        test: Node = last.value if isinstance(last, Evaluated) else Unknown()
        if len(parts) > 1:  # if (T x = f(); x)
            return Block((*parts[:-1], If(test, yes, no, line)))
        return If(test, yes, no, line)

    def _for(self, line: int) -> Statement:
        self.position += 1
        end = closing(list(self.words), self.position)
        inside = list(self.words[self.position + 1 : end])
        self.position = end + 1
        separators = [i for i, w in enumerate(inside) if w.text == ";"]
        if not separators:
            return self._range_loop(inside, line)
        first, second = separators[0], separators[-1]
        start = StatementReader([*inside[: first + 1]], self.macros, self.types).block()
        test = (
            ExpressionReader(inside[first + 1 : second], self.macros, self.types).expression()
            if second > first + 1
            else None
        )
        step = (
            ExpressionReader(inside[second + 1 :], self.macros, self.types).expression()
            if second + 1 < len(inside)
            else None
        )
        return Repetition(start, test, step, self._body(), line)

    def _range_loop(self, inside: Sequence[Word], line: int) -> Statement:
        colon = next((i for i, w in enumerate(inside) if w.text == ":"), 0)
        if not colon:
            raise ValueError("no range")
        iterable = ExpressionReader(inside[colon + 1 :], self.macros, self.types).expression()
        kind = " ".join(w.text for w in inside[: colon - 1])
        return RangeLoop(inside[colon - 1].text, kind, iterable, self._body(), line)

    def _while(self, line: int) -> Statement:
        self.position += 1
        self.take("(")
        test = self.expression()
        self.take(")")
        return Repetition((), test, None, self._body(), line)

    def _do(self, line: int) -> Statement:
        self.position += 1
        body = self._body()
        self.take("while")
        self.take("(")
        test = self.expression()
        self.take(")")
        return Repetition((), test, None, body, line, is_after=True)

    def _switch(self, line: int) -> Statement:
        self.position += 1
        self.take("(")
        value = self.expression()
        self.take(")")
        end = closing(list(self.words), self.position)
        inner = StatementReader(self.words[self.position + 1 : end], self.macros, self.types)
        self.position = end + 1
        arms = list[tuple[Node | None, list[Statement]]]()
        while inner.position < len(inner.words):
            if inner.peek() in ("case", "default"):
                inner.position += 1
                label = inner.expression(3) if inner.words[inner.position - 1].text == "case" else None
                inner.take(":")
                arms.append((label, []))
            elif arms:
                arms[-1][1].extend(inner.statement())
            else:
                raise ValueError("no label")
        return Switch(value, tuple((label, tuple(body)) for label, body in arms), line)

    def _declaration(self, line: int) -> list[DeclaredVariable] | None:
        """Read the variables of a declaration; None for what is none."""
        start = self.position
        kind = self._type_words()
        if kind is None:
            self.position = start
            return None
        variables = list[DeclaredVariable]()
        while True:
            type_words = list(kind)
            while self.peek() in ("*", "&", "&&", "const", "__restrict__", "__restrict"):
                type_words.append(self.peek())
                self.position += 1
            name = self.peek()
            if not name.isidentifier() or self.peek(1) not in ("=", ";", ",", "(", "[", "{"):
                self.position = start
                return None
            self.position += 1
            variables.append(self._variable(" ".join(type_words), name, line))
            if self.peek() == ";":
                self.position += 1
                return variables
            if self.peek() != ",":
                self.position = start
                return None
            self.position += 1

    def _variable(self, kind: str, name: str, line: int) -> DeclaredVariable:
        extent = list[Node | None]()
        while self.peek() == "[":
            self.position += 1
            extent.append(None if self.peek() == "]" else self.expression())
            self.take("]")
        value: Node | None = None
        is_called = self.peek() == "("
        if self.peek() == "=":
            self.position += 1
            value = self.expression()
        elif self.peek() in ("(", "{"):
            value = Braces("", self.listed(self.peek()))
        return DeclaredVariable(kind, name, value, line, tuple(extent), is_called)

    def _type_words(self) -> list[str] | None:
        """Read the words of a type before a declarator."""
        words, has_base = list[str](), False
        while True:
            text = self.peek()
            if text in NO_TYPE or not text:
                return None
            if text in QUALIFIERS:
                words.append(text)
                self.position += 1
            elif text in SIGNS:
                words.append(text)
                self.position, has_base = self.position + 1, True
            elif not has_base and (text.isidentifier() or text == "::"):
                words += self._qualified()
                has_base = True
            else:
                return words if has_base else None

    def _qualified(self) -> list[str]:
        words = list[str]()
        while True:
            words.append(self.peek())
            self.position += 1
            if self.peek() == "<":
                start = self.position
                if self.template_arguments() is None:
                    raise ValueError("no type")
                words += [w.text for w in self.words[start : self.position]]
            if self.peek() == "::":
                words.append("::")
                self.position += 1
            elif words[-1] != "::":
                return words
