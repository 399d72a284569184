"""Words of source text: those that the headers use, and text without what only looks like code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

INCLUDE = Path(__file__).parents[1] / "include"
OURS = re.compile(r"\b(?:ks|KS)_\w+")  # names of the lab and of the judge
_NO_CODE = re.compile(r'//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
_WORD = re.compile(r"[A-Za-z_]\w*")


def code_only(text: str) -> str:
    """The text with comments and literals blanked; every line keeps its number."""
    return _NO_CODE.sub(lambda found: " " + "\n" * found[0].count("\n"), text)


@cache
def header_words() -> frozenset[str]:
    """Every identifier of the device headers: none of them may mean something else while they are read."""
    files = (path for path in INCLUDE.rglob("*") if path.is_file() and "ks_lab" not in str(path))
    return frozenset(word for path in files for word in _WORD.findall(code_only(path.read_text(encoding="utf-8"))))
