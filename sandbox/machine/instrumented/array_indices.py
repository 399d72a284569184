"""Indices outside of arrays and of native vectors.

Two rules, both of the object that is meant, whatever lies behind it in memory:

- here, before any optimisation: where an index does not fit the array that is named in the expression (clang's
  `array-bounds`), the element lies in the outermost array whose type the source names. A row that is overrun into the
  next row of the same array is no fault. A structure bounds its members;
- in the optimiser (`-fsanitize=local-bounds`), when functions are inlined and variables are values: an access through
  a pointer lies in the variable that the pointer comes from, by whatever arithmetic.

Before the second rule is applied the optimiser would delete what it sees to be outside: a private array becomes single
values, and a store beyond them nothing. So the steps of pointers by a constant are hidden from it, and loops stay
loops.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sandbox.amdgcn.ir import LOCAL, VALUE, Body
from sandbox.machine.instrumented.fault_probe import FaultProbe
from sandbox.machine.instrumented.ir_edits import Edits
from sandbox.machine.instrumented.ir_pointers import Index, index_in, is_member, is_row, root_of, subscripts

_BEYOND = re.compile(rf"@__ubsan_handle_out_of_bounds\(ptr(?: addrspace\(\d\))? (@\d+), i64 ({VALUE})\)")
_JUMP = re.compile(r"br label %([^\s,]+)")
_REACH = 5  # lines in which the element's address follows its check
_GLOBAL = re.compile(rf"^({VALUE}) = (?!external )(?:.*? )?(?:global|constant) (\[.*\]) ", re.M)
_SHARED = re.compile(rf"^({VALUE}) = (?:.*? )?addrspace\(3\) (?:global|constant) ", re.M)
_STEP = re.compile(
    rf"^(  {LOCAL} = getelementptr inbounds (?:nuw |nusw )*[^\[,][^,]*, ptr ({LOCAL}), i64 )(-?[1-9]\d*)((?:, !.*)?)$"
)
_LOOP = re.compile(r"(, !dbg !\d+)?, !llvm\.loop !\d+$")


class Arrays:
    """Probes of indices for the functions of one module."""

    def __init__(self, text: str) -> None:
        self._shared = frozenset(_SHARED.findall(text))
        self._globals = dict(_GLOBAL.findall(text))  # an external one, dynamic LDS, is as long as the launch says

    def __call__(self, edits: Edits) -> None:
        """Turn clang's checks of indices into probes of the object that is meant."""
        if "@__ubsan_handle_out_of_bounds" not in edits.body.text:
            return
        block = ""
        for number, line in enumerate(edits.body.lines):
            block = line.split(":")[0] if line[:1].strip() else block
            if "@__ubsan_handle_out_of_bounds" not in line or not (match := _BEYOND.search(line)):
                continue
            edits.instead[number] = []
            condition = edits.body.conditions.get(block, "")
            text = edits.body.definitions.get(condition, "")
            element = _element_after(edits.body, number)
            if " icmp ule " in text:  # `&a[n]`: an address, and an access through it is checked by itself
                if element is None or not _is_referred_to(edits, element):
                    continue
                edits.instead[edits.body.defining_lines[condition]] = [text.replace(" icmp ule ", " icmp ult ")]
            first = index_in(edits.body.lines[element]) if element else None
            if first:
                self._outside(edits, number, replace(first, width="64", value=match[2]), _is_returned(edits, element))
            else:
                probe = FaultProbe("out_of_bounds", limit=_count_of(text), detail="vector")
                edits.instead[number] = [edits.report(number, probe, match[2])]

    def _outside(self, edits: Edits, number: int, first: Index, is_returned: bool) -> None:
        """Try, at a failed check of an index by clang, whether the element is outside of the outermost array."""
        steps = list(subscripts(edits.body, first))
        base = steps[-1].base
        if not is_member(edits.body, base) and (
            is_row(edits.body, base) or (base.startswith("@") and self._globals.get(base) != steps[-1].kind)
        ):
            return  # of a row of constant number there is only its address; the second rule holds for it
        element, size = "", 1
        for step in steps:
            part = edits.wide(number, f"i{step.width}", step.value)
            part = edits.value(number, f"mul i64 {part}, {size}") if size > 1 else part
            element = edits.value(number, f"add i64 {element}, {part}") if element else part
            size *= step.count
        bad = edits.value(number, f"icmp uge i64 {element}, {size}")
        name, detail = _source_name(edits.body, base), "returned" if is_returned else ""
        probe = FaultProbe("out_of_bounds", limit=size, name=name, space=self._space(edits.body, base), detail=detail)
        edits.test(number, bad, probe, element)

    def _space(self, body: Body, base: str) -> str:
        root = root_of(body, base)
        return "lds" if root in self._shared else "file" if root.startswith("@") else ""


def hide_steps(edits: Edits) -> None:
    """Hide from the optimiser by how much a pointer is moved, and ask for no loop to be unrolled."""
    for number, line in enumerate(edits.body.lines):
        if "!llvm.loop" in line:
            edits.instead[number] = [_LOOP.sub(lambda match: match[1] or "", line)]
        elif line.startswith("  %arrayinit."):
            continue  # of a list of values
        elif "getelementptr inbounds" in line and (match := _STEP.match(line)):
            origin = edits.body.definitions.get(match[2], "")
            if " addrspacecast " not in origin and " i8, ptr" not in line:
                step = edits.value(number, f'call i64 asm "", "=s,0"(i64 {match[3]}) #9002')
                edits.instead[number] = [f"{match[1]}{step}{match[4]}"]


def _element_after(body: Body, number: int) -> int | None:
    """Find the line of the subscript that follows the check which ends here; None where none does, as for a vector."""
    jump = _JUMP.search(body.lines[number + 1])
    if not jump or jump[1] not in body.labels:
        return None
    start = body.labels[jump[1]] + 1
    for index, line in enumerate(body.lines[start : start + _REACH], start):
        if subscript := index_in(line):
            return index if subscript.base[0] == "@" or body.defining_lines.get(subscript.base, 0) < number else None
        if "call " in line or "load " in line or "store " in line:
            return None
    return None


def _is_referred_to(edits: Edits, element: int) -> bool:
    """Tell whether an address is copied from or to, or handed on as a reference or `this`: it is to what is there."""
    name = edits.body.lines[element].split(" = ")[0].strip()
    if re.search(rf"(?:dereferenceable\(\d+\)|mem\S+\(.*ptr align \d+) {re.escape(name)}[,)]", edits.body.text):
        return True
    return _is_returned(edits, element)


def _is_returned(edits: Edits, element: int | None) -> bool:
    """Tell whether the function returns a reference to the element, as `operator[]` does: its caller chose."""
    if element is None or "dereferenceable(" not in edits.head.partition("@")[0]:
        return False
    name = edits.body.lines[element].split(" = ")[0].strip()
    return bool(re.search(rf"^  ret ptr {re.escape(name)}\b", edits.body.text, re.M))


def _count_of(condition: str) -> int:
    """Read the number of elements with which a condition compares an index; 0 where there is none."""
    match = re.search(r" icmp ult i\d+ [^,]+, (\d+)", condition)
    return int(match[1]) if match else 0


def _source_name(body: Body, base: str) -> str:
    """Give the array's name in the source, where there is one."""
    if is_member(body, base):
        return re.sub(r"\d+$", "", base[1:])
    root = root_of(body, base)
    if root.startswith("@"):  # `_ZZ1kPKfPfE4tile`: the last part is a length and a name
        match = re.search(r"E(\d+)(\w+)$", root) or re.search(r"^@_Z[NL]*(\d+)(\w+)$", root)
        return match[2][: int(match[1])] if match else root[1:]
    return re.sub(r"\d*(?:\.ascast)?\d*$", "", root[1:]) if root in body.variables else ""
