"""Bytes that a variable holds after its end, as unset as before its first value.

A pointer may outlive the variable that it points to. On the processor's stack the old value stays where it was, on a
GPU registers and scratch serve other variables by then. So where a variable ends whose address the function hands on,
it is overwritten, and the compiler is told of no end: it would drop what is written to a variable that ends. Where
nothing reads the value, the optimiser drops it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandbox.amdgcn.ir import DEBUG, VALUE, Body
from sandbox.lab.build.unset import overwritten

_ENDS = re.compile(rf"^  call void @llvm\.lifetime\.(start|end)\.p0\(ptr (?:nonnull )?({VALUE})\)")
_VARIABLE = re.compile(r"^  \S+ = alloca (.*), align (\d+)")
_STEP = re.compile(rf"= (?:getelementptr .*?, |addrspacecast |bitcast )ptr (?:addrspace\(\d+\) )?({VALUE})(?=[ ,]|$)")
_STORED = re.compile(rf"^  store (?:volatile )?ptr ({VALUE}), ")
_CALL = re.compile(r"^  (?:%\S+ = )?(?:tail |musttail |notail )?call .*?@(?!llvm\.|ks\.|__ubsan)[^(]*\((.*)\)")
_GIVEN = re.compile(rf"\bptr (?:[a-z_]+(?:\([^()]*\))? |align \d+ )*(?=%)({VALUE})")


def ended(body: Body) -> Mapping[int, list[str]]:
    """For each line at which a variable begins or ends whose address is handed on, what stands for it."""
    if "@llvm.lifetime.end" not in body.text:
        return {}
    handed, found = _handed_on(body), dict[int, list[str]]()
    for number, line in enumerate(body.lines):
        mark = _ENDS.match(line) if "@llvm.lifetime." in line else None
        kind = _VARIABLE.match(body.definitions.get(mark[2], "")) if mark and mark[2] in handed else None
        place = DEBUG.search(line)
        if not mark or not kind or ", i64 " in kind[1] or (body.has_lines and not place):
            continue
        size = f"i64 ptrtoint (ptr getelementptr ({kind[1]}, ptr null, i64 1) to i64)"
        found[number] = [] if mark[1] == "start" else overwritten(number, mark[2], size, kind[2], place)
    return found


def _handed_on(body: Body) -> frozenset[str]:
    """The variables of which a pointer is stored or passed to a function of the source."""
    given = set[str]()
    for line in body.lines:
        if stored := _STORED.match(line):
            given.add(stored[1])
        elif call := _CALL.match(line):
            given.update(_GIVEN.findall(call[1]))
    return frozenset(root for name in given if (root := _root(body, name)) in body.variables)


def _root(body: Body, name: str) -> str:
    while name not in body.variables and (step := _STEP.search(body.definitions.get(name, ""))):
        name = step[1]
    return name
