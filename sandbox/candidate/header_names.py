"""Names in source text: those that the device headers use, and those of the judge."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

INCLUDE = Path(__file__).parents[1] / "include"
_PART = re.compile(  # our headers are plain: no raw string, splice or universal character parts a name
    r"""//[^\n]*+|/\*.*?\*/|"(?:\\.|[^"\\\n])*+"|<[\w./]++>|(?P<name>\b[A-Za-z_$][\w$]*+)|'(?:\\.|[^'\\\n])'|[.\d][\w.]*+""",
    re.S,
)


def is_ours(name: str) -> bool:
    """True for a name of the lab or of the judge."""
    return name.startswith(("ks_", "KS_")) and len(name) > 3


@cache
def header_words() -> frozenset[str]:
    """Every identifier of the device headers: none of them may mean something else while they are read."""
    files = (path for path in INCLUDE.rglob("*") if path.is_file() and "ks_lab" not in str(path))
    texts = (path.read_text(encoding="utf-8") for path in files)
    return frozenset(part["name"] for text in texts for part in _PART.finditer(text) if part["name"])
