"""Texts as a client gets them: bounded, without keys and home paths, and without what held-out cases hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from records.outside_text import visible
from records.redaction import redacted

MOST_CHARS = 6_000  # of one text
MOST_ITEMS = 40  # of one list
HELD_OUT = "a held-out case"
_SHAPE = re.compile(r"\b[A-Za-z_]\w*=\d+(?:,\s?[A-Za-z_]\w*=\d+)*(?: \([^)]*\))?")


def clipped(text: str, most: int = MOST_CHARS) -> str:
    """Clip the text to a bound, at the end of a line where there is one."""
    if len(text) <= most:
        return text
    head = text[:most].rpartition("\n")[0] or text[:most]
    return f"{head}\n(cut here: {len(text) - len(head)} characters more)"


def without_shapes(text: str, listed: Collection[str]) -> str:
    """Replace every shape in the text that is none of the task's listed cases."""
    return _SHAPE.sub(lambda match: match.group() if match.group() in listed else HELD_OUT, text)


def cleaned(value: Any, secrets: Sequence[str], most: int = MOST_CHARS) -> Any:
    """Clean an answer of plain data: each text bounded and without keys, each list bounded."""
    if isinstance(value, str):
        return clipped(visible(redacted(value, secrets, str(Path.home()))), most)
    if isinstance(value, dict):
        return {name: cleaned(inner, secrets, most) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(inner, secrets, most) for inner in value[:MOST_ITEMS]]
    return value
