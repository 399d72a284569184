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
        match = "@llvm.mem" in line and _COPY.search(line)
        if not match or {match[3], match[6]} <= edits.body.variables or not 0 < int(match[7]) <= _MOST:
            continue
        size = int(match[7])
        width = next(unit for unit in (4, 2, 1) if size % unit == 0 and unit <= min(int(match[2]), int(match[5])))
        kind, location = f"<{size // width} x i{8 * width}>", edits.location(number)
        value = edits.value(number, f"load {kind}, {match[4]} {match[6]}, align {match[5]}{location}")
        edits.instead[number] = [f"  store {kind} {value}, {match[1]} {match[3]}, align {match[2]}{location}"]
