"""Basic blocks of a kernel's gfx942 listing: what each of them issues, and what tells how often it runs.

The lab counts how often every line's loads, stores and matrix instructions are executed; the listing says in which
block they stand. Together they give the executions of a block, and with them those of its vector instructions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_FUNCTION = re.compile(r"^\t\.type\t(\S+),@function$")
_FILE = re.compile(r'^\t\.file\t(\d+) (?:"[^"]*" )?"([^"]*)"')
_LOC = re.compile(r"^\t\.loc\t(\d+) (\d+)")
_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_INSTRUCTION = re.compile(r"^\t([a-z][a-z0-9_]+)(.*)")
_TARGET = re.compile(r"\.LBB\d+_\d+")
_TRANSCENDENTAL = ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos")
_WIDTHS = (("x4", 16), ("x3", 12), ("x2", 8), ("b128", 16), ("b96", 12), ("b64", 8), ("f64", 8), ("byte", 1),
           ("_u8", 1), ("_i8", 1), ("_b8", 1), ("short", 2), ("_u16", 2), ("_i16", 2), ("_b16", 2))


@dataclass(frozen=True)
class BasicBlock:
    """Instructions between two labels. `anchors` maps "line:class" to bytes a lane (to instructions for `mfma`)."""

    valu: int
    trans: int
    anchors: Mapping[str, int] = field(default_factory=dict)
    loop: int = -1  # index of the first block of the innermost loop around it, -1 outside of loops
    issued: Mapping[str, int] = field(default_factory=dict)  # instructions by the category that issues one at a time


@dataclass
class _Draft:
    label: str = ""
    valu: int = 0
    trans: int = 0
    anchors: Counter[str] = field(default_factory=Counter)
    jumps: list[str] = field(default_factory=list)
    issued: Counter[str] = field(default_factory=Counter)


def blocks_in(listing: str, source_name: str) -> dict[str, tuple[BasicBlock, ...]]:
    """Blocks of every function, by its symbol, in the order of the listing."""
    found: dict[str, list[_Draft]] = {}
    for function, line, label, mnemonic, operands in walk(listing, source_name):
        drafts = found.setdefault(function, [_Draft()])
        if label:
            drafts.append(_Draft(label=label))
        else:
            _add(drafts, mnemonic, operands, line)
    return {name: _finish(drafts) for name, drafts in found.items()}


def walk(listing: str, source_name: str) -> Iterator[tuple[str, int, str, str, str]]:
    """(function, candidate line or 0, label, mnemonic, operands) of every label and instruction; one of the two."""
    function, line, mine = "", 0, set[str]()
    for text in listing.split("\n"):
        if match := _FUNCTION.match(text):
            function, line = match[1], 0
        elif match := _FILE.match(text):
            if match[2] == source_name:
                mine.add(match[1])
        elif match := _LOC.match(text):
            line = int(match[2]) if match[1] in mine else line
        elif function and text.startswith("\t.section"):
            function = ""
        elif function and (match := _LABEL.match(text)):
            yield function, line, match[1], "", ""
        elif function and (match := _INSTRUCTION.match(text)):
            yield function, line, "", match[1], match[2]


def _add(blocks: list[_Draft], mnemonic: str, operands: str, line: int) -> None:
    block = blocks[-1]
    if category := issue_category(mnemonic):
        block.issued[category] += 1
    if mnemonic.startswith(("v_mfma", "v_smfmac")):
        block.anchors[f"{line}:mfma"] += 1
    elif mnemonic.startswith("v_"):
        if mnemonic.split("_")[1] in _TRANSCENDENTAL:
            block.trans += 1
        else:
            block.valu += 1
    elif kind := memory_class(mnemonic):
        block.anchors[f"{line}:{kind}"] += bytes_per_lane(mnemonic)
    elif mnemonic.startswith(("s_branch", "s_cbranch")):
        block.jumps += _TARGET.findall(operands)
        blocks.append(_Draft())


def issue_category(mnemonic: str) -> str:
    """vector, memory, lds, scalar or branch; empty for waits and the like, which take no issue slot."""
    if mnemonic.startswith("v_"):
        return "vector"
    if mnemonic.startswith("ds_"):
        return "lds"
    if mnemonic.startswith(("global_", "buffer_", "flat_", "scratch_")):
        return "memory"
    if mnemonic.startswith(("s_waitcnt", "s_nop", "s_sleep", "s_barrier", "s_setprio", "s_endpgm")):
        return ""
    if mnemonic.startswith(("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call")):
        return "branch"
    return "scalar" if mnemonic.startswith("s_") else ""


def memory_class(mnemonic: str) -> str:
    """`load`, `store`, `lds load` or `lds store`; empty for anything else, atomics included."""
    if "atomic" in mnemonic:
        return ""
    if mnemonic.startswith(("ds_read", "ds_load")):
        return "lds load"
    if mnemonic.startswith(("ds_write", "ds_store")):
        return "lds store"
    if mnemonic.startswith(("global_load", "flat_load", "buffer_load")):
        return "load"
    return "store" if mnemonic.startswith(("global_store", "flat_store", "buffer_store")) else ""


def bytes_per_lane(mnemonic: str) -> int:
    """Bytes that one lane moves; a `read2` or `write2` moves two elements."""
    width = next((size for mark, size in _WIDTHS if mark in mnemonic), 4)
    return width * (2 if re.match(r"ds_(read|write)2", mnemonic) else 1)


def _finish(drafts: list[_Draft]) -> tuple[BasicBlock, ...]:
    place = {draft.label: index for index, draft in enumerate(drafts) if draft.label}
    loops = [(place[target], index) for index, draft in enumerate(drafts) for target in draft.jumps
             if place.get(target, index + 1) <= index]
    return tuple(
        BasicBlock(d.valu, d.trans, dict(d.anchors),
                   max((start for start, end in loops if start <= index <= end), default=-1), dict(d.issued))
        for index, d in enumerate(drafts)
    )
