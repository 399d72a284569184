"""Basic blocks of a kernel's gfx942 listing: the instructions that each issues, and the evidence of how often it runs.

The lab counts how often every line's loads, stores and matrix instructions are executed; the listing says in which
block they stand. Together they give the executions of a block, and with them those of its vector instructions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sandbox.amdgcn.mnemonics import bytes_per_lane, is_copy, is_packed, is_transcendental, issue_category, memory_class
from sandbox.amdgcn.waits import WaitEvent, event, stalls

_FUNCTION = re.compile(r"^\t\.type\t(\S+),@function$")
_FILE = re.compile(r'^\t\.file\t(\d+) (?:"[^"]*" )?"([^"]*)"')
_LOC = re.compile(r"^\t\.loc\t(\d+) (\d+)")
_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_INSTRUCTION = re.compile(r"^\t([a-z][a-z0-9_]+)(.*)")
ListingRow = tuple[str, int, str, str, str]  # function, candidate's line or 0, label or mnemonic and operands
_TARGET = re.compile(r"\.LBB\d+_\d+")


@dataclass(frozen=True)
class BasicBlock:
    """Instructions between two labels. `anchors` maps "line:class" to bytes a lane (to instructions for `mfma`)."""

    valu: int
    trans: int
    anchors: Mapping[str, int] = field(default_factory=dict)
    loop: int = -1  # index of the first block of the innermost loop around it, -1 outside of loops
    issued: Mapping[str, int] = field(default_factory=dict)  # instructions by the category that issues one at a time
    loads: int = 0  # from global memory
    stalls: float = 0.0  # waits for loads, in times that a load takes
    late: float = 0.0  # of them: for loads from before the last barrier
    region: int = -1  # first block of the stretch of overlapping loops around it, -1 outside of loops
    copies: int = 0  # vector instructions that only move a register
    packed: int = 0  # vector instructions that do two operations
    barriers: int = 0


@dataclass
class _Draft:
    label: str = ""
    valu: int = 0
    trans: int = 0
    anchors: Counter[str] = field(default_factory=Counter)
    jumps: list[str] = field(default_factory=list)
    issued: Counter[str] = field(default_factory=Counter)
    events: list[WaitEvent] = field(default_factory=list)
    copies: int = 0
    packed: int = 0


def blocks_in(rows: Iterable[ListingRow]) -> dict[str, tuple[BasicBlock, ...]]:
    """Blocks of every function, by its symbol, in the order of the listing."""
    found: dict[str, list[_Draft]] = defaultdict(lambda: [_Draft()])
    for function, line, label, mnemonic, operands in rows:
        drafts = found[function]
        if label:
            drafts.append(_Draft(label=label))
        else:
            _add(drafts, mnemonic, operands, line)
    return {name: _finish(drafts) for name, drafts in found.items()}


def walk(listing: str, source_name: str) -> Iterator[ListingRow]:
    """Every label and instruction of a listing."""
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
    block.packed += is_packed(mnemonic)
    block.copies += is_copy(mnemonic)
    if seen := event(mnemonic, operands):
        block.events.append(seen)
    if category := issue_category(mnemonic):
        block.issued[category] += 1
    if mnemonic.startswith(("v_mfma", "v_smfmac")):
        block.anchors[f"{line}:mfma"] += 1
    elif mnemonic.startswith("v_"):
        if is_transcendental(mnemonic):
            block.trans += 1
        else:
            block.valu += 1
    elif kind := memory_class(mnemonic):
        block.anchors[f"{line}:{kind}"] += bytes_per_lane(mnemonic)
    elif mnemonic.startswith(("s_branch", "s_cbranch")):
        block.jumps += _TARGET.findall(operands)
        blocks.append(_Draft())


def _finish(drafts: list[_Draft]) -> tuple[BasicBlock, ...]:
    place = {draft.label: index for index, draft in enumerate(drafts) if draft.label}
    loops = [
        (place[target], index)
        for index, draft in enumerate(drafts)
        for target in draft.jumps
        if place.get(target, index + 1) <= index
    ]
    regions = _merged(loops)
    waited = stalls([d.events for d in drafts], regions)
    return tuple(
        BasicBlock(
            d.valu,
            d.trans,
            dict(sorted(d.anchors.items())),  # as they are read back: sums of floats depend on the order
            max((start for start, end in loops if start <= index <= end), default=-1),
            dict(sorted(d.issued.items())),
            sum(e.kind == "load" for e in d.events),
            *waited[index],
            next((first for first, last in regions if first <= index <= last), -1),
            d.copies,
            d.packed,
            sum(e.kind == "barrier" for e in d.events),
        )
        for index, d in enumerate(drafts)
    )


def _merged(loops: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Loops that share a block, as one: blocks are not laid out in the order in which they run."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(loops):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found
