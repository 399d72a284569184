"""Accesses whose address is not a multiple of what their C++ type asks for, where the instruction asks for less.

Clang's own check (`-fsanitize=alignment`) tries scalars, native vectors, members and references; its calls become
probes. Copies of whole objects (`float4 v = *p`) and loads from a buffer straight to LDS are added.
"""

from __future__ import annotations

import re

from sandbox.amdgcn.ir import VALUE
from sandbox.machine.instrumented.edits import Edits
from sandbox.machine.instrumented.pointers import is_variable
from sandbox.machine.instrumented.probe import Probe

_SPACE = r"(?: addrspace\(\d\))?"
_MISFIT = re.compile(rf"@__ubsan_handle_type_mismatch_v1\(ptr{_SPACE} (@\d+), i64 (.+?)\)(?: #|,|$)")
_ASSUMED = re.compile(
    rf"@__ubsan_handle_alignment_assumption\(ptr{_SPACE} @\d+, i64 (.+?), i64 ({VALUE}), i64 {VALUE}\)"
)
_RECORD = re.compile(r"^(@\d+) = private [^\n]*, i8, i8 \} \{ [^\n]*, i8 (\d+), i8 (\d+) \}", re.M)
_ACCESSES = range(6)  # loads, stores, references, members, constructors; casts are no fault by themselves
_COPY = re.compile(rf"call void @llvm\.mem(?:cpy|move)\.\S+?\((.*?), i(?:64|32) {VALUE}, i1 ")
_FILL = re.compile(rf"call void @llvm\.memset\.\S+?\((.*?), i8 {VALUE}, i(?:64|32) {VALUE}, i1 ")
_OPERAND = re.compile(rf"(ptr{_SPACE}) (?:\w+ )*?align (\d+) (?:\w+(?:\(\d+\))? )*?(%\S+)$")
_TO_LDS = re.compile(
    rf"call void @llvm\.amdgcn\.(?:global\.load|load\.to)\.lds\S*\((ptr addrspace\(1\)) ({VALUE}), "
    rf"(ptr addrspace\(3\)) (?:({VALUE})|.*?), i32 (\d+), "
)
_BUFFER = re.compile(r"(?<=[(\s])(ptr addrspace\(1\)(?: noundef)?) (?=%)")
ARGUMENT_ALIGNMENT = 16  # bytes, at least, of every buffer's address


class Alignment:
    """Probes of alignment for the functions of one module."""

    def __init__(self, text: str) -> None:
        self._records = {name: (1 << int(log), int(use)) for name, log, use in _RECORD.findall(text)}

    def __call__(self, edits: Edits) -> None:
        for number, line in enumerate(edits.body.lines):
            if "@__ubsan_handle_" in line:
                self._checked(edits, number, line)
            elif "@llvm.mem" in line:
                _copied(edits, number, line)
            elif ".lds" in line and (found := _TO_LDS.search(line)):
                _loaded(edits, number, found)

    def _checked(self, edits: Edits, number: int, line: str) -> None:
        if found := _MISFIT.search(line):
            alignment, use = self._records.get(found[1], (0, 0))
            is_access = use in _ACCESSES and alignment
            probe = Probe("misaligned", limit=alignment)
            edits.instead[number] = [edits.report(number, probe, found[2])] if is_access else []
        elif found := _ASSUMED.search(line):
            limit = int(found[2]) if found[2].isdigit() else 0
            edits.instead[number] = [edits.report(number, Probe("misaligned", limit=limit, detail="assume"), found[1])]


def _copied(edits: Edits, number: int, line: str) -> None:
    found = _COPY.search(line) or _FILL.search(line)
    if not found or (edits.body.has_lines and not edits.location(number)):
        return
    for operand in found[1].split(", "):
        pointer = _OPERAND.match(operand)
        if pointer and int(pointer[2]) > 1 and not is_variable(edits.body, pointer[3]):
            _multiple(edits, number, pointer[1], pointer[3], int(pointer[2]), "copy")


def _loaded(edits: Edits, number: int, found: re.Match[str]) -> None:
    alignment = min(4, int(found[5]))
    for kind, pointer in ((found[1], found[2]), (found[3], found[4])):
        if alignment > 1 and pointer and pointer.startswith("%"):
            _multiple(edits, number, kind, pointer, alignment, "")


def _multiple(edits: Edits, number: int, kind: str, pointer: str, alignment: int, detail: str) -> None:
    address = edits.value(number, f"ptrtoint {kind} {pointer} to i64")
    rest = edits.value(number, f"and i64 {address}, {alignment - 1}")
    bad = edits.value(number, f"icmp ne i64 {rest}, 0")
    edits.test(number, bad, Probe("misaligned", limit=alignment, detail=detail), address)



def aligned_arguments(head: str) -> str:
    """The head of a kernel that says how buffers are aligned: the optimiser drops the checks of what follows from it."""
    return _BUFFER.sub(rf"\1 align {ARGUMENT_ALIGNMENT} ", head) if " amdgpu_kernel " in head else head
