"""The words of a text as host code is read from: three angle brackets are one word, directives are gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.candidate.pp_tokens import Token


@dataclass(frozen=True)
class Word:
    """A token; `kind` as the scanner has it."""

    text: str
    kind: str
    line: int


def words_of(tokens: Iterable[Token]) -> list[Word]:
    """Split a text into words; `<<` and `<` without space between them are `<<<`, and `>>` and `>` are `>>>`."""
    words: list[Word] = []
    end = -1
    for token in tokens:
        if token.kind == "end":
            continue
        pair = (words[-1].text, token.text) if words else ("", "")
        if pair in (("<<", "<"), (">>", ">")) and end == token.start:
            words[-1] = Word(pair[0] + pair[1], "mark", words[-1].line)
        else:
            words.append(Word(token.text, token.kind, token.line))
        end = token.end
    return words


def closing(words: list[Word], opening: int) -> int:
    """Find the bracket that closes the one at this place; the end where there is none."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth: list[str] = []
    for index in range(opening, len(words)):
        text = words[index].text if words[index].kind == "mark" else ""
        if text in pairs:
            depth.append(pairs[text])
        elif depth and text == depth[-1]:
            depth.pop()
            if not depth:
                return index
    return len(words)
