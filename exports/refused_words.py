"""C++ text without words that a format's static checks refuse: comments that hold one are left out, names renamed."""

from __future__ import annotations

import re

from records.errors import UsageError
from sandbox.candidate.pp_tokens import scan


def without(text: str, word: re.Pattern[str], instead: str, refuser: str) -> str:
    """Write the text, line for line, with another word in names; UsageError where a string literal holds the word."""
    pieces, offset = list[str](), 0
    for token in scan(text):
        pieces += [_blank(text[offset : token.start], word), text[token.start : token.end]]
        if word.search(pieces[-1]):
            if token.kind != "name":
                raise UsageError(f"a text in the kernel holds {token.text}, a word that {refuser} refuses: take it out")
            pieces[-1] = word.sub(lambda match: _cased(instead, match[0]), pieces[-1])
        offset = token.end
    return "".join([*pieces, _blank(text[offset:], word)])


def _cased(instead: str, spelling: str) -> str:
    if spelling.isupper():
        return instead.upper()
    return instead.capitalize() if spelling[0].isupper() else instead


def _blank(gap: str, word: re.Pattern[str]) -> str:
    """Space and comments; comments that hold the word are left out, their line ends stay."""
    if not word.search(gap):
        return gap
    return "\n" * gap.count("\n") or " "
