"""Advice in words on codes, kinds of findings and resources: the tables of the documents, which tests keep whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from records.code_meanings import CODES
from records.errors import UsageError

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"
RESOURCES: Mapping[str, str] = {
    "hbm": "the memory: move fewer bytes, or the same in whole cache lines",
    "mall": "the Infinity Cache: reuse data in L2, in LDS or in registers",
    "l2": "the L2 cache: coalesce accesses, keep what is read again in LDS",
    "l1": "the vector L1 cache: load wider values, so that fewer lines are asked for",
    "lds": "the LDS: read wider values, pad or swizzle against conflicts of banks, keep what is reused in registers",
    "mfma": "the matrix cores: the arithmetic itself; take a cheaper type or form of instruction",
    "valu": "the vector ALUs: fewer or cheaper instructions, packed ones, matrix instructions",
    "atomics": "atomic operations on one line, which follow one another: reduce in the block first, or spread them",
    "latency": "latency: more waves, more independent work between a load and its use",
    "launch": "the launch of kernels: fuse them, or give each more work",
}

STALLS: Mapping[str, str] = {  # beside the resources that are causes, too
    "issue": "the issue of instructions: unroll, and use wider ones",
    "vmcnt": "waits for loads from global memory: load earlier, load more at once, or have more waves",
    "lgkmcnt": "waits for LDS or for scalar loads: read ahead of the use, and wait for several at once",
    "dependency": "an instruction waits for the result of the one before it: put independent work between them",
    "barrier": "waves wait for the others of their workgroup: fewer barriers, or more even work between them",
    "memory": "the bandwidth of caches or HBM: move fewer bytes, or reuse them nearer",
    "tail": "the last workgroups run on few units: smaller workgroups, or a grid that divides evenly",
}


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
