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
    found: list[Word] = []
    end = -1
    for token in tokens:
        if token.kind == "end":
            continue
        pair = (found[-1].text, token.text) if found else ("", "")
        if pair in (("<<", "<"), (">>", ">")) and end == token.start:
            found[-1] = Word(pair[0] + pair[1], "mark", found[-1].line)
        else:
            found.append(Word(token.text, token.kind, token.line))
        end = token.end
    return found


def closing(words: list[Word], at: int) -> int:
    """Find the bracket that closes the one at this place; the end where there is none."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth: list[str] = []
    for place in range(at, len(words)):
        text = words[place].text if words[place].kind == "mark" else ""
        if text in pairs:
            depth.append(pairs[text])
        elif depth and text == depth[-1]:
            depth.pop()
            if not depth:
                return place
    return len(words)
