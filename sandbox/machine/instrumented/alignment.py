"""Accesses whose address is not a multiple of what their C++ type asks for, where the instruction asks for less.

Clang's own check (`-fsanitize=alignment`) tries scalars, native vectors, members and references; its calls become
probes. Copies of whole objects (`float4 v = *p`) and loads from a buffer straight to LDS are added.
"""

from __future__ import annotations

import re
from collections.abc import Container

from sandbox.amdgcn.ir import VALUE, Body
from sandbox.machine.instrumented.fault_probe import FaultProbe
from sandbox.machine.instrumented.ir_edits import Edits
from sandbox.machine.instrumented.ir_pointers import index_in, is_member, is_variable

_SPACE = r"(?: addrspace\(\d\))?"
_MISFIT = re.compile(rf"@__ubsan_handle_type_mismatch_v1\(ptr{_SPACE} (@\d+), i64 (.+?)\)(?: #\d+)?(?:, ![^)]*)?$")
_ASSUMED = re.compile(
    rf"@__ubsan_handle_alignment_assumption\(ptr{_SPACE} @\d+, i64 (.+?), i64 ({VALUE}), i64 {VALUE}\)"
)
_RECORD = re.compile(r"^(@\d+) = private [^\n]*, i8, i8 \} \{ [^\n]*, i8 (\d+), i8 (\d+) \}", re.M)
_ACCESSES = range(6)  # loads, stores, references, members, constructors; casts are no fault by themselves
_ADDRESS = re.compile(rf"= ptrtoint ptr{_SPACE} (%\S+) to i64")
_REST = re.compile(r"= and i64 (%\S+), (\d+)")
_ACCESS = re.compile(
    rf"^  (?:%\S+ = )?(?:load|store|atomicrmw|cmpxchg) (?:.*[, ])?(ptr{_SPACE}) (%[^\s,]+),? .*align (\d+)(?=,|$)"
)
_NATURAL = {"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8}
_COPY = re.compile(rf"call void @llvm\.mem(?:cpy|move)\.\S+?\((.*?), i(?:64|32) {VALUE}, i1 ")
_FILL = re.compile(rf"call void @llvm\.memset\.\S+?\((.*?), i8 {VALUE}, i(?:64|32) {VALUE}, i1 ")
_OPERAND = re.compile(rf"(ptr{_SPACE}) (?:\w+ )*?align (\d+) (?:\w+(?:\(\d+\))? )*?(%\S+)$")
_TO_LDS = re.compile(
    rf"call void @llvm\.amdgcn\.(?:global\.load|load\.to)\.lds\S*\((ptr addrspace\(1\)) ({VALUE}), "
    rf"(ptr addrspace\(3\)) (?:({VALUE})|.*?), i32 (\d+), "
)
_KERNEL = re.compile(r"(define [^@]*\bamdgpu_kernel [^@]*@[^(]*\()(.*)(\) [^()]*\{\n)$")
_COMMA = re.compile(r",(?![^()]*\))")
_ARGUMENT = re.compile(r"^  store ptr addrspace\(1\) (%\S+), ptr (%\S+), ")
_LOADED = re.compile(r"^  (%\S+) = load ptr, ptr (%\S+), ")
_BUFFER = re.compile(r"^ ?ptr addrspace\(1\) (?:noundef )?")
_ALIGNMENT = 128  # bytes: twice as much, at least, is the alignment of every buffer


class Alignment:
    """Probes of alignment for the functions of one module."""

    def __init__(self, text: str) -> None:
        self._records = {name: (1 << int(log), int(use)) for name, log, use in _RECORD.findall(text)}

    def __call__(self, edits: Edits) -> None:
        """Turn clang's checks into probes and add those that it lacks."""
        tried = _tried(edits.body)
        for number, line in enumerate(edits.body.lines):
            if "@__ubsan_handle_" in line:
                self._checked(edits, number, line)
            elif ", align " in line and "!annotation" not in line and (access := _ACCESS.match(line)):
                _accessed(edits, number, access, tried)
            elif "@llvm.mem" in line:
                _copied(edits, number, line)
            elif ".lds" in line and (match := _TO_LDS.search(line)):
                _loaded(edits, number, match)

    def _checked(self, edits: Edits, number: int, line: str) -> None:
        if match := _MISFIT.search(line):
            alignment, use = self._records.get(match[1], (0, 0))
            is_access = use in _ACCESSES and not _is_element(edits.body, match[2], alignment)
            probe = FaultProbe("misaligned", limit=alignment)
            edits.instead[number] = [edits.report(number, probe, match[2])] if is_access else []
        elif match := _ASSUMED.search(line):
            limit = int(match[2]) if match[2].isdigit() else 0
            edits.instead[number] = [
                edits.report(number, FaultProbe("misaligned", limit=limit, detail="assume"), match[1])
            ]


def _is_element(body: Body, address: str, alignment: int) -> bool:
    """Tell whether an address is that of an array's element whose own type asks for so much, in a variable."""
    match = _ADDRESS.search(body.definitions.get(address, ""))
    index = index_in(body.definitions.get(match[1], "")) if match else None
    return bool(match and index and alignment <= _NATURAL.get(index.item, 0) and is_variable(body, match[1]))


def _tried(body: Body) -> frozenset[tuple[str, int]]:
    """Find the pointers that clang's checks try, and for which alignment."""
    masks = (_REST.search(line) for line in body.lines if "!nosanitize" in line)
    addresses = ((mask[1], int(mask[2]) + 1) for mask in masks if mask)
    matches = ((_ADDRESS.search(body.definitions.get(address, "")), alignment) for address, alignment in addresses)
    return frozenset((match[1], alignment) for match, alignment in matches if match)


def _accessed(edits: Edits, number: int, access: re.Match[str], tried: frozenset[tuple[str, int]]) -> None:
    """Try what clang leaves out: elements of native vectors, atomic accesses."""
    pointer, alignment = access[2], int(access[3])
    if alignment == 1 or (pointer, alignment) in tried or (edits.body.has_lines and not edits.location(number)):
        return
    if pointer not in edits.body.variables and not is_member(edits.body, pointer):
        index = index_in(edits.body.definitions.get(pointer, ""))
        if not (index and alignment <= _NATURAL.get(index.item, 0) and is_variable(edits.body, pointer)):
            _multiple(edits, number, access[1], pointer, alignment, "")


def _copied(edits: Edits, number: int, line: str) -> None:
    match = _COPY.search(line) or _FILL.search(line)
    if not match or (edits.body.has_lines and not edits.location(number)):
        return
    for operand in match[1].split(", "):
        pointer = _OPERAND.match(operand)
        if pointer and int(pointer[2]) > 1 and not is_variable(edits.body, pointer[3]):
            _multiple(edits, number, pointer[1], pointer[3], int(pointer[2]), "copy")


def _loaded(edits: Edits, number: int, match: re.Match[str]) -> None:
    alignment = min(4, int(match[5]))
    for kind, pointer in ((match[1], match[2]), (match[3], match[4])):
        if alignment > 1 and pointer and pointer.startswith("%"):
            _multiple(edits, number, kind, pointer, alignment, "")


def _multiple(edits: Edits, number: int, kind: str, pointer: str, alignment: int, detail: str) -> None:
    address = edits.value(number, f"ptrtoint {kind} {pointer} to i64")
    remainder = edits.value(number, f"and i64 {address}, {alignment - 1}")
    bad = edits.value(number, f"icmp ne i64 {remainder}, 0")
    edits.test(number, bad, FaultProbe("misaligned", limit=alignment, detail=detail), address)


def aligned_arguments(head: str, positions: Container[int]) -> str:
    """Say in a kernel's head which arguments are aligned: the optimiser drops what is tried of them in vain."""
    match = _KERNEL.match(head)
    if not match:
        return head
    arguments = [
        _BUFFER.sub(rf"\g<0>nonnull align {_ALIGNMENT} ", text) if position in positions else text
        for position, text in enumerate(_COMMA.split(match[2]))
    ]
    return f"{match[1]}{','.join(arguments)}{match[3]}"


def assume_alignment(edits: Edits) -> None:
    """Say it of the generic pointers to these arguments, too: LLVM 22 loses it in between, and keeps what says more."""
    arguments = dict[str, str]()
    for number, line in enumerate(edits.body.lines):
        if stored := _ARGUMENT.match(line):
            is_aligned = f"align {_ALIGNMENT} {stored[1]}" in edits.head
            arguments |= {stored[2]: stored[1]} if is_aligned else {}
        elif arguments and (load := _LOADED.match(line)) and arguments.pop(load[2], None):
            bundle = f'[ "align"(ptr {load[1]}, i64 {2 * _ALIGNMENT}), "nonnull"(ptr {load[1]}) ]'
            edits.before.setdefault(number + 1, []).insert(0, f"  call void @llvm.assume(i1 true) {bundle}")
