"""Reads of a lane that EXEC has masked off.

`v_readlane_b32` gives what the register holds in any lane. In one that takes no part that is whatever the compiler left
there: it keeps values of the active lanes only. The compiler's own reads, of registers that it spills scalars to, are
right; so the source's are tried, in the instrumented build.
"""

from __future__ import annotations

import re

from sandbox.amdgcn.ir import VALUE
from sandbox.machine.instrumented.fault_probe import FaultProbe
from sandbox.machine.instrumented.ir_edits import Edits

_READ = re.compile(
    rf"call \S+ @llvm\.amdgcn\.readlane(?:\.\w+)?\(\S+ (?:noundef )?{VALUE}, i32 (?:noundef )?({VALUE})\)"
)


def masked_lanes(edits: Edits) -> None:
    """Probe where the lane that is read is not active; its value is the mask of those that are."""
    for number, line in enumerate(edits.body.lines if "@llvm.amdgcn.readlane" in edits.body.text else ()):
        if "@llvm.amdgcn.readlane" not in line or not (match := _READ.search(line)):
            continue
        active = edits.value(number, 'call i64 asm sideeffect "s_mov_b64 $0, exec", "=s"() #9003')
        lane = edits.value(number, f"and i32 {match[1]}, 63")
        wide = edits.value(number, f"zext i32 {lane} to i64")
        bit = edits.value(number, f"shl i64 1, {wide}")
        active_bit = edits.value(number, f"and i64 {active}, {bit}")
        bad = edits.value(number, f"icmp eq i64 {active_bit}, 0")
        edits.test(number, bad, FaultProbe("divergent_collective"), active)
