"""Names in source text: those that the device headers use, and those of the judge."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sandbox.candidate.pp_tokens import scan

INCLUDE = Path(__file__).parents[1] / "include"


def is_ours(name: str) -> bool:
    """True for a name of the lab or of the judge."""
    return name.startswith(("ks_", "KS_")) and len(name) > 3


@cache
def header_words() -> frozenset[str]:
    """Every identifier of the device headers: none of them may mean something else while they are read."""
    files = (path for path in INCLUDE.rglob("*") if path.is_file() and "ks_lab" not in str(path))
    texts = (path.read_text(encoding="utf-8") for path in files)
    return frozenset(token.text for text in texts for token in scan(text) if token.kind == "name")
