"""Advice in words on codes, kinds of findings and resources: the tables of the documents, which tests keep whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from records.causes import RESOURCES, STALLS
from records.code_meanings import CODES
from records.errors import UsageError

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"


def advice_of(kind: str) -> str:
    """Give the usual cause of a kind of finding, and what to do; empty where the document has none."""
    return _findings().get(kind, "")


def explained(about: str) -> str:
    """Explain a code, a kind of finding, a resource or a cause of stalls in words; UsageError names what there is."""
    name = about.strip()
    if name in CODES:
        return CODES[name]
    text = advice_of(name) or RESOURCES.get(name.replace("_", " "), "") or STALLS.get(name, "")
    if text:
        return text
    raise UsageError(
        f"there is nothing to explain about {name[:60]!r}; there are the codes {', '.join(CODES)}, "
        f"the findings {', '.join(_findings())}, the resources {', '.join(RESOURCES)}, "
        f"and the stalls {', '.join(STALLS)}"
    )


@cache
def _findings() -> Mapping[str, str]:
    path = DOCUMENTS / "a-kernel-fails.md"
    if not path.is_file():
        return {}
    section = path.read_text(encoding="utf-8").partition("## Findings, and what to do")[2].partition("\n## ")[0]
    advice: dict[str, str] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            sentence = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", f"usually {cells[1]}; {cells[2]}")
            advice |= dict.fromkeys(re.findall(r"`(\w+)`", cells[0]), sentence)
    return advice
