"""Copies of whole objects as loads and stores, which the optimiser's checks of bounds understand.

`float4 v = tile[i]` is a call of `llvm.memcpy` until instructions are chosen. Copies between variables that are named
directly stay: there is nothing to be tried.
"""

from __future__ import annotations

import re

from sandbox.machine.instrumented.ir_edits import Edits

_POINTER = r"(ptr(?: addrspace\(\d\))?) (?:\w+ )*?align (\d+) (?:\w+(?:\(\d+\))? )*?(%[^\s,]+)"
_COPY = re.compile(rf"call void @llvm\.mem(?:cpy|move)\.\S+?\({_POINTER}, {_POINTER}, i(?:64|32) (\d+), i1 false\)")
_MOST = 128  # bytes


def unfold_copies(edits: Edits) -> None:
    """Replace each copy of few bytes to or from where a pointer points."""
    for number, line in enumerate(edits.body.lines if "@llvm.mem" in edits.body.text else ()):
        found = "@llvm.mem" in line and _COPY.search(line)
        if not found or {found[3], found[6]} <= edits.body.variables or not 0 < int(found[7]) <= _MOST:
            continue
        size = int(found[7])
        width = next(each for each in (4, 2, 1) if size % each == 0 and each <= min(int(found[2]), int(found[5])))
        kind, place = f"<{size // width} x i{8 * width}>", edits.location(number)
        value = edits.value(number, f"load {kind}, {found[4]} {found[6]}, align {found[5]}{place}")
        edits.instead[number] = [f"  store {kind} {value}, {found[1]} {found[3]}, align {found[2]}{place}"]
