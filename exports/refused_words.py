"""C++ text without words that a format's static checks refuse: comments that hold one are left out, names renamed."""

from __future__ import annotations

import re

from records.errors import UsageError
from sandbox.candidate.pp_tokens import scan


def without(text: str, word: re.Pattern[str], instead: str, who: str) -> str:
    """Write the text, line for line, with another word in names; UsageError where a string literal holds the word."""
    pieces, at = list[str](), 0
    for token in scan(text):
        pieces += [_blank(text[at : token.start], word), text[token.start : token.end]]
        if word.search(pieces[-1]):
            if token.kind != "name":
                raise UsageError(f"a text in the kernel holds {token.text}, a word that {who} refuses: take it out")
            pieces[-1] = word.sub(lambda found: _cased(instead, found[0]), pieces[-1])
        at = token.end
    return "".join([*pieces, _blank(text[at:], word)])


def _cased(instead: str, found: str) -> str:
    if found.isupper():
        return instead.upper()
    return instead.capitalize() if found[0].isupper() else instead


def _blank(gap: str, word: re.Pattern[str]) -> str:
    """Space and comments; comments that hold the word are left out, their line ends stay."""
    if not word.search(gap):
        return gap
    return "\n" * gap.count("\n") or " "
