"""Indices outside of arrays and of native vectors.

Two rules, both of the object that is meant, whatever lies behind it in memory:

- here, before any optimisation: an element that is accessed lies in the outermost array whose type the source names. A
  row that is overrun into the next row of the same array is no fault. A structure bounds its members;
- in the optimiser (`-fsanitize=local-bounds`), when functions are inlined and variables are values: an access through
  a pointer lies in the variable that the pointer comes from, by whatever arithmetic.

Before the second rule is applied the optimiser would delete what it sees to be outside: a private array becomes single
values, and a store beyond them nothing. So the steps of pointers by a constant are hidden from it, and loops stay
loops.
"""

from __future__ import annotations

import re

from sandbox.amdgcn.ir import LOCAL, VALUE, Body
from sandbox.machine.instrumented.edits import Edits
from sandbox.machine.instrumented.pointers import (
    Index,
    index_in,
    is_accessed,
    is_member,
    is_row,
    root_of,
    subscripts,
)
from sandbox.machine.instrumented.probe import Probe

_USED = re.compile(rf"ptr(?: addrspace\(\d\))? (?:align \d+ )?({LOCAL})")
_ELEMENT = re.compile(rf"= (?:extract|insert)element <(\d+) x [^>]+> .*, i(32|64) ({LOCAL})(?:, !|$)")
_GLOBAL = re.compile(rf"^({VALUE}) = (?!external )(?:.*? )?(?:global|constant) (\[.*\]) ", re.M)
_STEP = re.compile(
    rf"^(  {LOCAL} = getelementptr inbounds (?:nuw |nusw )*[^\[,][^,]*, ptr ({LOCAL}), i64 )(-?[1-9]\d*)((?:, !.*)?)$"
)
_LOOP = re.compile(r"(, !dbg !\d+)?, !llvm\.loop !\d+$")


class Arrays:
    """Probes of indices for the functions of one module."""

    def __init__(self, text: str) -> None:
        self._globals = dict(_GLOBAL.findall(text))  # an external one, dynamic LDS, is as long as the launch says

    def __call__(self, edits: Edits) -> None:
        body = edits.body
        uses = _uses(body) if "getelementptr" in body.text else {}
        for number, line in enumerate(body.lines):
            if first := index_in(line):
                self._indexed(edits, number, first, uses.get(line.split(" = ")[0].strip(), []))
            elif found := _ELEMENT.search(line) if "element <" in line else None:
                bad = edits.value(number, f"icmp uge i{found[2]} {found[3]}, {found[1]}")
                probe = Probe("out_of_bounds", limit=int(found[1]), detail="vector")
                edits.test(number, bad, probe, edits.wide(number, f"i{found[2]}", found[3]))

    def _indexed(self, edits: Edits, number: int, first: Index, uses: list[int]) -> None:
        name = edits.body.lines[number].split(" = ")[0].strip()
        steps = list(subscripts(edits.body, first))
        base = steps[-1].base
        total = 1
        for step in steps:
            total *= step.count
        if total == 0 or all(step.constant is not None and 0 <= step.constant < step.count for step in steps):
            return
        if is_member(edits.body, base):
            if steps[-1].count <= 1:
                return  # the last member of a structure that its writer makes longer
        elif is_row(edits.body, base) or (base.startswith("@") and self._globals.get(base) != steps[-1].kind):
            return  # of a row of constant number there is only its address; the second rule holds for it
        if not any(is_accessed(edits.body.lines[use], name) for use in uses):
            return  # an address; an access through it is checked by itself
        element, size = "", 1
        for step in steps:
            part = edits.wide(number, f"i{step.width}", step.value)
            part = edits.value(number, f"mul i64 {part}, {size}") if size > 1 else part
            element = edits.value(number, f"add i64 {element}, {part}") if element else part
            size *= step.count
        bad = edits.value(number, f"icmp uge i64 {element}, {total}")
        edits.test(number, bad, Probe("out_of_bounds", limit=total, name=_source_name(edits.body, base)), element)


def hide_steps(edits: Edits) -> None:
    """Hide from the optimiser by how much a pointer is moved, and ask for no loop to be unrolled."""
    for number, line in enumerate(edits.body.lines):
        if "!llvm.loop" in line:
            edits.instead[number] = [_LOOP.sub(lambda found: found[1] or "", line)]
        elif "getelementptr inbounds" in line and (found := _STEP.match(line)):
            origin = edits.body.definitions.get(found[2], "")
            if " addrspacecast " not in origin and " i8, ptr" not in line:
                step = edits.value(number, f'call i64 asm "", "=s,0"(i64 {found[3]}) #9002')
                edits.instead[number] = [f"{found[1]}{step}{found[4]}"]


def _uses(body: Body) -> dict[str, list[int]]:
    """The lines that have a pointer among their operands."""
    uses: dict[str, list[int]] = {}
    for number, line in enumerate(body.lines):
        if "ptr" in line:
            for name in _USED.findall(line):
                uses.setdefault(name, []).append(number)
    return uses


def _source_name(body: Body, base: str) -> str:
    """The array's name in the source, where there is one."""
    if is_member(body, base):
        return re.sub(r"\d+$", "", base[1:])
    root = root_of(body, base)
    if root.startswith("@"):  # `_ZZ1kPKfPfE4tile`: the last part is a length and a name
        found = re.search(r"E(\d+)(\w+)$", root) or re.search(r"^@_Z[NL]*(\d+)(\w+)$", root)
        return found[2][: int(found[1])] if found else root[1:]
    return re.sub(r"\d*(?:\.ascast)?\d*$", "", root[1:]) if root in body.variables else ""
