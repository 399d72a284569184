"""The front end's module for gfx942 with probes: text in, text out, before any optimisation.

What is not found: an access through a pointer that was itself read from memory by a computed index (a table of
pointers), or that comes through recursion, where it hits another variable; a copy of a computed number of bytes.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from sandbox.amdgcn.ir import bodies
from sandbox.machine.instrumented.alignment import Alignment, aligned_arguments, assume_alignment
from sandbox.machine.instrumented.array_indices import Arrays, hide_steps
from sandbox.machine.instrumented.fault_probe import FaultProbe, address_of
from sandbox.machine.instrumented.ir_edits import Edits, ProbeTable
from sandbox.machine.instrumented.masked_lanes import masked_lanes
from sandbox.machine.instrumented.release_fences import release_fences
from sandbox.machine.instrumented.undefined_arithmetic import arithmetic
from sandbox.machine.instrumented.unset_values import UnsetValues
from sandbox.machine.instrumented.wave_masks import WaveMasks
from sandbox.machine.instrumented.whole_copies import unfold_copies

_PROMISE = re.compile(r"^  call void @llvm\.assume\(i1 (?:noundef )?(%\S+?)\)")
_ENDS = re.compile(r"@llvm\.(?:trap|ubsantrap|amdgcn\.endpgm)\(")
_CALL = re.compile(r"^  (?:%\S+ = )?(?:tail )?call ")
_NO_RETURN = re.compile(r"^attributes (#\d+) = \{[^}]*\bnoreturn\b", re.M)
_NOT_INLINED = re.compile(r"(?<=[{ ])noinline(?= )")  # where all is one function, a pointer's variable is in sight
# No probe need come back: what follows it says nothing about whether it is reached. Nothing is known of a hidden value.
_RUNTIME = f"""
define internal void @ks.report(i64 %probe, i64 %value) #9000 {{
  call void asm sideeffect "global_store_dwordx2 $0, $1, off", "v,v"(i64 %probe, i64 %value) #9001
  ret void
}}
define internal void @ks.test(i1 %bad, i64 %probe, i64 %value) #9000 {{
  br i1 %bad, label %report, label %done, !prof !{{!"branch_weights", i32 1, i32 1048575}}
report:
  call void asm sideeffect "global_store_dwordx2 $0, $1, off", "v,v"(i64 %probe, i64 %value) #9001
  br label %done
done:
  ret void
}}
define hidden void @__ubsan_handle_local_out_of_bounds() #9000 {{
  call void asm sideeffect "global_store_dwordx2 $0, $1, off", "v,v"(i64 {address_of(0)}, i64 0) #9001
  ret void
}}
attributes #9000 = {{ alwaysinline nounwind }}
attributes #9001 = {{ nounwind nomerge cold memory(inaccessiblemem: readwrite) }}
attributes #9002 = {{ nounwind willreturn memory(none) }}
attributes #9003 = {{ convergent nounwind memory(inaccessiblemem: readwrite) }}
"""


@dataclass(frozen=True)
class InstrumentedModule:
    """LLVM's text form with probes, and the probes by number."""

    text: str
    probes: tuple[FaultProbe, ...]


def instrument(text: str, source: str, aligned: Container[int] = ()) -> InstrumentedModule:
    """Put probes into a module; what is not understood is left as it is.

    `source`: file name of the candidate; `aligned`: positions at which every kernel gets a buffer's first address.
    """
    table = ProbeTable(text, source)
    table.add(FaultProbe("out_of_bounds", detail="object"), "")  # the optimiser's, at any line
    endless = set(_NO_RETURN.findall(text))
    steps = (
        UnsetValues(text),
        hide_steps,
        Alignment(text),
        assume_alignment,
        Arrays(text),
        arithmetic,
        unfold_copies,
        WaveMasks(text),
        masked_lanes,
        release_fences,
    )
    parts, end = list[str](), 0
    for body in bodies(text):
        edits = Edits(body, table, aligned_arguments(body.head, aligned))
        for step in steps:
            step(edits)
        _promises(edits, endless)
        parts += [text[end : body.start - len(body.head)], edits.head, edits.text()]
        end = body.end
    return InstrumentedModule("".join([*parts, _NOT_INLINED.sub("", text[end:]), _RUNTIME]), tuple(table.probes))


def _promises(edits: Edits, endless: set[str]) -> None:
    """Try each promise of the source to the compiler (`__builtin_assume`, a missing return) where it is made."""
    is_endless = not endless.isdisjoint(edits.body.head.split())
    if not is_endless and "unreachable" not in edits.body.text and "@llvm.assume" not in edits.body.text:
        return
    for number, line in enumerate(edits.body.lines):
        if line.startswith("  unreachable") and _is_end(edits.body.lines[number - 1], endless):
            continue
        if line.startswith("  unreachable") or (is_endless and line.startswith("  ret ")):
            if number and "@llvm.trap(" in edits.body.lines[number - 1]:
                continue  # __builtin_trap, a failed assert: no promise
            end = [f"  call void @llvm.amdgcn.endpgm(){edits.location(number)}"] if line.startswith("  un") else []
            edits.instead[number] = [edits.report(number, FaultProbe("trap", detail="unreachable")), *end, line]
        elif "@llvm.assume" in line and (promise := _PROMISE.match(line)):
            bad = edits.value(number, f"xor i1 {promise[1]}, true")
            edits.test(number, bad, FaultProbe("trap", detail="assume"))
            edits.instead[number] = []


def _is_end(line: str, endless: set[str]) -> bool:
    """Tell whether a line is a call that does not come back: where it does, its own function says so."""
    if not _CALL.match(line):
        return False
    return _ENDS.search(line) is not None or not endless.isdisjoint(re.findall(r"#\d+", line))
