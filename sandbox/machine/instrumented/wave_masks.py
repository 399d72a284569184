"""Masks of a wave that miss lanes: ballots cut to 32 bits, and masks of `_sync` functions without the lane itself.

Where the function takes nothing of the upper half, a cut is a fault as soon as bits get lost (`Ballots`). A ballot that
comes by way of a parameter or a structure is known by its value instead: each ballot leaves a copy in registers that
only a trap handler uses, `ttmp[2:3]`, and where a value becomes narrower by itself and loses bits, clang's check
(`implicit-*-integer-truncation`) compares it with the wave's last ballot.
"""

from __future__ import annotations

import re

from sandbox.amdgcn.ballots import Ballots, returning_ballots
from sandbox.amdgcn.ir import DEBUG, VALUE
from sandbox.machine.instrumented.fault_probe import FaultProbe
from sandbox.machine.instrumented.ir_edits import Edits

_MASK = re.compile(rf"^  call void @ks_mask\(i64 (?:noundef )?({VALUE})\)")
_NARROWED = re.compile(rf"@__ubsan_handle_implicit_conversion\(ptr(?: addrspace\(\d\))? @\d+, i64 ({VALUE}), ")
_MADE = re.compile(r"^  (%\S+) = (?:tail )?call i64 @llvm\.amdgcn\.ballot\.i64\(")
_LOST = (1 << 32) - 1  # more than this has bits in the upper half
_SET = 'call void asm sideeffect "s_mov_b64 ttmp[2:3], $0", "{constraint}"(i64 {value}) #9001'


class WaveMasks:
    """Probes of masks for the functions of one module."""

    def __init__(self, text: str) -> None:
        self._returning = returning_ballots(text)
        self._compares = "@llvm.amdgcn.ballot.i64" in text and "@__ubsan_handle_implicit_conversion" in text

    def __call__(self, edits: Edits) -> None:
        """Probe where a ballot is cut and where a mask is handed over."""
        ballots = Ballots(edits.body, self._returning)
        for number, value in ballots.cuts():
            if DEBUG.search(edits.body.lines[number]):
                bad = edits.value(number, f"icmp ugt i64 {value}, {_LOST}")
                edits.test(number, bad, FaultProbe("wave_mask"), value)
        excused = ballots.excused()
        for number, line in enumerate(edits.body.lines):
            if "@ks_mask(" in line and (match := _MASK.match(line)):
                edits.instead[number] = [edits.report(number, FaultProbe("wave_mask", detail="mask"), match[1])]
            elif "@__ubsan_handle_implicit" in line:
                edits.instead[number] = []
                if self._compares and number not in excused and (match := _NARROWED.search(line)):
                    self._compared(edits, number, match[1])
            elif self._compares and (match := _MADE.match(line)):
                edits.before.setdefault(number + 1, []).insert(0, "  " + _SET.format(constraint="s", value=match[1]))
        if self._compares and " amdgpu_kernel " in edits.head:
            edits.before.setdefault(1, []).insert(0, "  " + _SET.format(constraint="i", value="0"))

    def _compared(self, edits: Edits, number: int, value: str) -> None:
        if f"trunc i64 {value} to i" not in edits.body.text:
            return
        last = edits.value(number, 'call i64 asm sideeffect "s_mov_b64 $0, ttmp[2:3]", "=s"() #9001')
        is_last = edits.value(number, f"icmp eq i64 {value}, {last}")
        is_cut = edits.value(number, f"icmp ugt i64 {value}, {_LOST}")
        bad = edits.value(number, f"and i1 {is_last}, {is_cut}")
        edits.test(number, bad, FaultProbe("wave_mask", detail="narrowed"), value)
