"""Reads expressions of host code from words; what it cannot read is an `Unknown` or a `ValueError`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imports.hosts.host_syntax import (
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    Element,
    LaunchNode,
    Literal,
    MemberAccess,
    Name,
    Node,
    SizeOf,
    Unary,
    Unknown,
)
from imports.hosts.word_reader import Macro, WordReader
from imports.hosts.words import Word, closing

LEVELS: Mapping[str, int] = {
    **dict.fromkeys(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "|=", "&=", "^="), 1),
    "||": 3,
    "&&": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    **dict.fromkeys(("==", "!="), 8),
    **dict.fromkeys(("<", ">", "<=", ">="), 9),
    **dict.fromkeys(("<<", ">>"), 11),
    **dict.fromkeys(("+", "-"), 12),
    **dict.fromkeys(("*", "/", "%"), 13),
}
CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
MOST_DEPTH = 60


class ExpressionReader(WordReader):
    """Reads expressions."""

    def expression(self, level: int = 1) -> Node:
        """Read an expression whose operators bind at least so strongly."""
        if self.depth > MOST_DEPTH:
            raise ValueError("too deep")
        self.depth += 1
        left = self._operand()
        while True:
            sign = self.peek()
            if sign == "?" and level <= 2:
                self.position += 1
                yes = self.expression()
                self.take(":")
                left = Choice(left, yes, self.expression(2))
            elif sign in LEVELS and LEVELS[sign] >= level:
                self.position += 1
                right = self.expression(LEVELS[sign] if LEVELS[sign] == 1 else LEVELS[sign] + 1)
                left = Binary(sign, left, right)
            else:
                self.depth -= 1
                return left

    def _operand(self) -> Node:
        word = self.words[self.position] if self.position < len(self.words) else Word("", "end", 0)
        text = word.text
        if text in ("-", "+", "!", "~", "*", "&", "++", "--"):
            self.position += 1
            return Unary(text, self.expression(14))
        if text == "sizeof":
            return self._size_of()
        if text == "(":
            return self._after(self._bracket())
        if text == "{":
            return Braces("", self.listed("{"))
        if text == "[":
            return self._lambda()
        if text == "new":
            return self._new()
        if word.kind == "number":
            self.position += 1
            return Literal(_number(text))
        if word.kind in ("string", "raw", "character"):
            while self.position < len(self.words) and self.words[self.position].kind in ("string", "raw", "character"):
                self.position += 1
            return self._after(Literal(text))
        if word.kind == "name" or text == "::":
            return self._after(self._name())
        raise ValueError(f"{text!r} is no operand")

    def _size_of(self) -> Node:
        self.position += 1
        if self.peek() == "(":
            end = closing(list(self.words), self.position)
            inner = [w.text for w in self.words[self.position + 1 : end]]
            if self.is_type(inner):
                self.position = end + 1
                return SizeOf(" ".join(inner), None)
        return SizeOf("", self.expression(14))

    def _bracket(self) -> Node:
        """Read a cast or an expression in parentheses."""
        end = closing(list(self.words), self.position)
        inner = [w.text for w in self.words[self.position + 1 : end]]
        if self.is_type(inner) or (len(inner) == 2 and inner[1] == "*" and inner[0].isidentifier()):
            self.position = end + 1
            if self.peek() in ("", ")", ";", ",") or (
                self.peek() in LEVELS and self.peek() not in ("*", "&", "-", "+")
            ):
                return Name(" ".join(inner))
            return Cast(" ".join(inner), self.expression(14))
        self.position += 1
        value = self.expression()
        while self.peek() == ",":
            self.position += 1
            value = self.expression()
        self.take(")")
        return value

    def _lambda(self) -> Node:
        start = self.position
        words = list(self.words)
        self.position = closing(words, self.position) + 1
        if self.peek() == "(":
            self.position = closing(words, self.position) + 1
        while self.peek() not in ("{", "", ";"):
            self.position += 1
        if self.peek() != "{":
            raise ValueError("no lambda")
        self.position = closing(words, self.position) + 1
        return self._after(Unknown(" ".join(w.text for w in words[start : self.position])))

    def _new(self) -> Node:
        self.position += 1
        start = self.position
        while self.peek() not in ("[", "(", "{", ";", ",", ")", ""):
            self.position += 1
        kind = " ".join(w.text for w in self.words[start : self.position])
        if self.peek() != "[":
            self._after(Unknown())
            return Unknown("new")
        self.position += 1
        count = self.expression()
        self.take("]")
        if self.peek() in ("(", "{"):
            self.position = closing(list(self.words), self.position) + 1
        return Call(Name("new[]", (kind,)), (count,))

    def _name(self) -> Node:
        parts, arguments = [], tuple[str, ...]()
        while True:
            if self.peek() == "::":
                self.position += 1
                continue
            parts.append(self.peek())
            self.position += 1
            if self.peek() == "<" and (angle_arguments := self.template_arguments()) is not None:
                arguments = angle_arguments
            if self.peek() != "::":
                break
        text = "::".join(parts).removeprefix("std::")
        macro = self.macros.get(text)
        if text in CASTS and arguments:
            self.take("(")
            value = self.expression()
            self.take(")")
            return Cast(arguments[0], value)
        if macro is not None and macro.parameters is not None and self.peek() == "(":
            return self._expanded(macro)
        return Name(text, arguments)

    def _expanded(self, macro: Macro) -> Node:
        """Expand a macro to its expression; where it has none, to that of its first argument that is one."""
        arguments, parameters = self.raw_list(), macro.parameters or ()
        if len(arguments) >= len(parameters) - ("__VA_ARGS__" in parameters) and self.depth < MOST_DEPTH:
            for body in _expressions(_filled(macro, arguments)):
                inner = ExpressionReader(body, self.macros, self.types, depth=self.depth + 1)
                try:
                    value = inner.expression()
                    if inner.position == len(body):
                        return value
                except ValueError:
                    pass
        for words in arguments:
            inner = ExpressionReader(words, self.macros, self.types, depth=self.depth + 1)
            try:
                return inner.expression()
            except ValueError:
                continue
        return Unknown()

    def _after(self, value: Node) -> Node:
        """Read the words behind an operand: calls, elements, members, launches."""
        while True:
            text = self.peek()
            if text == "(":
                value = Call(value, self.listed("("))
            elif text == "<<<" and isinstance(value, Name):
                value = self._launch(value)
            elif text == "[":
                self.position += 1
                index = self.expression()
                self.take("]")
                value = Element(value, index)
            elif text in (".", "->"):
                self.position += 1
                name = self.peek()
                self.position += 1
                arguments = (self.template_arguments() or ()) if self.peek() == "<" else ()
                value = MemberAccess(value, name, arguments)
            elif text in ("++", "--"):
                self.position += 1
                value = Unary(f"{text} behind", value)
            elif text == "{" and isinstance(value, Name) and (value.arguments or self.is_type([value.text])):
                value = Braces(value.text, self.listed("{"))
            else:
                return value

    def _launch(self, kernel: Name) -> Node:
        line = self.line
        self.position += 1
        sizes = [self.expression()]
        while self.peek() == ",":
            self.position += 1
            sizes.append(self.expression())
        self.take(">>>")
        return LaunchNode(kernel, tuple(sizes), self.listed("("), line)

    def listed(self, opening: str) -> tuple[Node, ...]:
        """Expressions between brackets; types among them are names."""
        end = closing(list(self.words), self.position)
        self.take(opening)
        items = list[Node]()
        while self.position < end:
            items.append(self._one_of_list(end))
            if self.peek() == ",":
                self.position += 1
        self.position = end + 1
        return tuple(items)

    def _one_of_list(self, end: int) -> Node:
        start = self.position
        try:
            value = self.expression()
            if self.position == end or self.peek() == ",":
                return value
        except ValueError:
            pass
        self.position = start
        while self.position < end and self.peek() != ",":
            last = closing(list(self.words), self.position) if self.peek() in ("(", "[", "{") else self.position
            self.position = last + 1
        return Unknown(" ".join(w.text for w in self.words[start : self.position]))


def _number(text: str) -> int | float:
    plain = text.replace("'", "").lower()
    if plain.startswith("0x") and "." not in plain and "p" not in plain:
        return int(plain.rstrip("ul"), 16)
    if plain.startswith("0b"):
        return int(plain.rstrip("ul"), 2)
    if any(letter in plain for letter in ".ef") and not plain.startswith("0x"):
        return float(plain.rstrip("fl"))
    digits = plain.rstrip("ulz")
    return int(digits, 8) if len(digits) > 1 and digits.startswith("0") else int(digits)


def _filled(macro: Macro, arguments: Sequence[list[Word]]) -> list[Word]:
    """Fill a macro's words with the arguments in their places."""
    parameters = macro.parameters or ()
    names = [name for name in parameters if name != "__VA_ARGS__"]
    bindings = dict(zip(names, arguments, strict=False))
    extra = arguments[len(names) :]
    bindings["__VA_ARGS__"] = [
        w for i, words in enumerate(extra) for w in ([Word(",", "mark", 0)] if i else []) + words
    ]
    filled = list[Word]()
    for word in macro.body:
        if word.text == "__VA_ARGS__" and not extra and filled and filled[-1].text in (",", "##"):
            filled = filled[: -2 if filled[-1].text == "##" else -1]
        filled += bindings.get(word.text, [word])
    return [word for word in filled if word.text != "##"]


def _expressions(body: list[Word]) -> Iterator[list[Word]]:
    """All of a macro's words, or of several statements the one that launches."""
    plain = body[:-1] if body and body[-1].text == ";" else body
    if [w.text for w in plain[:2]] == ["do", "{"]:
        plain = plain[2 : closing(plain, 1)]
    elif plain and plain[0].text == "{":
        plain = plain[1 : closing(plain, 0)]
    pieces = [list[Word]()]
    for word in plain:
        pieces += [[]] if word.text == ";" else []
        pieces[-1] += [word] if word.text != ";" else []
    launching = [p for p in pieces if any(w.text == "<<<" or "LaunchKernel" in w.text for w in p)]
    yield from launching[:1] or [plain]
