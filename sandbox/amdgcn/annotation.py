"""A kernel's listing with what a reader wants beside each instruction: its source line, its class, its loops."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sandbox.amdgcn.listing import instruction_class

_FUNCTION = re.compile(r"^\t\.type\t(\S+),@function$")
_FILE = re.compile(r'^\t\.file\t(\d+) (?:"[^"]*" )?"([^"]*)"')
_LOC = re.compile(r"^\t\.loc\t(\d+) (\d+)")
_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_INSTRUCTION = re.compile(r"^\t([a-z][a-z0-9_]+)([^;]*)")
_TARGET = re.compile(r"\.LBB\d+_\d+")


@dataclass(frozen=True)
class Instruction:
    """One instruction of the listing, in the machine's order."""

    line: int  # of the candidate's file; 0 where the compiler names none
    text: str  # mnemonic and operands, separated by one space
    group: str  # its issue class, see listing.instruction_class
    label: str = ""  # that stands before it
    depth: int = 0  # loops around it


def annotate(listing: str, source_name: str) -> dict[str, tuple[Instruction, ...]]:
    """List the instructions of every function, by its symbol."""
    functions: dict[str, list[Instruction]] = {}
    function, line, label, mine = "", 0, "", set[str]()
    for text in listing.split("\n"):
        if match := _FUNCTION.match(text):
            function, line, label = match[1], 0, ""
            functions[function] = []
        elif match := _FILE.match(text):
            if match[2] == source_name:
                mine.add(match[1])
        elif match := _LOC.match(text):
            line = int(match[2]) or line if match[1] in mine else line
        elif function and text.startswith("\t.section"):
            function = ""
        elif function and (match := _LABEL.match(text)):
            label = match[1]
        elif function and (match := _INSTRUCTION.match(text)):
            words = f"{match[1]} {' '.join(match[2].split())}".strip()
            functions[function].append(Instruction(line, words, instruction_class(match[1]), label))
            label = ""
    return {name: _with_loops(rows) for name, rows in functions.items()}


def _with_loops(rows: list[Instruction]) -> tuple[Instruction, ...]:
    """Count loops: a branch back to a label closes the one that begins there; several to one label are one loop."""
    index_of = {row.label: index for index, row in enumerate(rows) if row.label}
    ends: dict[int, int] = {}
    for index, row in enumerate(rows):
        for target in _TARGET.findall(row.text) if row.group == "branch" else ():
            start = index_of.get(target, index + 1)
            if start <= index:
                ends[start] = index
    return tuple(
        replace(row, depth=sum(start <= index <= end for start, end in ends.items())) for index, row in enumerate(rows)
    )
