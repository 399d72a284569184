"""A place in the words of host code: brackets, types and macros, which decide how words are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from imports.hosts.types import DTYPES, QUALIFIERS, SIGNS, VECTOR
from imports.hosts.words import Word, closing

MOST_ARGUMENT_WORDS = 40


@dataclass(frozen=True)
class Macro:
    """A macro: its parameters, None where it takes none, and its words."""

    parameters: tuple[str, ...] | None
    body: tuple[Word, ...]


@dataclass
class WordReader:
    """A place in some words, and what the file's names stand for."""

    words: Sequence[Word]
    macros: Mapping[str, Macro]
    types: frozenset[str] = frozenset()
    position: int = 0
    depth: int = field(default=0)

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a word ahead; empty at the end."""
        index = self.position + ahead
        return self.words[index].text if index < len(self.words) else ""

    @property
    def line(self) -> int:
        """The line of the next word."""
        return self.words[min(self.position, len(self.words) - 1)].line if self.words else 0

    def take(self, text: str) -> None:
        """Go over this word; ValueError for another."""
        if self.peek() != text:
            raise ValueError(f"{text!r} expected")
        self.position += 1

    def is_type(self, texts: Sequence[str]) -> bool:
        """Tell whether words name a type."""
        plain = [t for t in texts if t not in QUALIFIERS and t not in ("*", "&", "std", "::")]
        if not plain:
            return False
        first = plain[0]
        is_base = (
            first in self.types
            or first in DTYPES
            or first in SIGNS
            or VECTOR.fullmatch(first)
            or first in ("void", "dim3")
        )
        return bool(is_base) and all(t in SIGNS or t == first for t in plain)

    def template_arguments(self) -> tuple[str, ...] | None:
        """Read the arguments between angle brackets, where that is what they are; the place is behind them then."""
        words, depth, arguments, part, index = list(self.words), 0, list[str](), list[str](), self.position
        while index < min(len(words), self.position + MOST_ARGUMENT_WORDS):
            text = words[index].text
            stop = closing(words, index) + 1 if text == "(" else index + 1
            if text == "<" and depth == 0:
                depth = 1
            elif text in (">", ">>", ">>>") and depth <= len(text):
                self.position, start = stop, self.position
                if self._goes_on():
                    return (*arguments, " ".join(part)) if part else tuple(arguments)
                self.position = start
                return None
            elif text in (";", "{", "}", "&&", "||", "<<<", "<<", "?", "==") or words[index].kind == "string":
                return None
            elif text == "," and depth == 1:
                arguments.append(" ".join(part))
                part = []
            else:
                depth += (text == "<") - (len(text) if text in (">", ">>") else 0)
                part += [w.text for w in words[index:stop]]
            index = stop
        return None

    def _goes_on(self) -> bool:
        """Tell whether the next word may stand behind a template's arguments."""
        behind = self.peek()
        return behind in ("(", "<<<", "::", "{", ",", ")", ";", ">", "&", "*", "") or behind.isidentifier()

    def raw_list(self) -> list[list[Word]]:
        """Return the words of each argument between parentheses."""
        words = list(self.words)
        end = closing(words, self.position)
        arguments, part, index = list[list[Word]](), list[Word](), self.position + 1
        while index < end:
            stop = closing(words, index) + 1 if words[index].text in ("(", "[", "{") else index + 1
            if words[index].text == ",":
                arguments.append(part)
                part = []
            else:
                part += words[index:stop]
            index = stop
        self.position = end + 1
        return [*arguments, part] if part or arguments else []
