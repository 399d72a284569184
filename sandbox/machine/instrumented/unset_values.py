"""Variables before their first value and after their end.

Without help the optimiser takes for an unset variable whatever suits it, and no register is undefined in the end. So
each variable gets a value that is undefined to whoever executes the listing and any to the optimiser: what a register
holds that only a trap handler sets, `ttmp0`. The interpreter follows it like every undefined register.

Clang marks where a variable begins (`-ftrivial-auto-var-init=pattern`, `!annotation`). It ends where LLVM's lifetime
does; where its address is handed on, it is undefined again from there on, and the optimiser is told of no end: it would
drop what is written to a variable that ends.
"""

from __future__ import annotations

import re

from sandbox.amdgcn.ir import VALUE, Body
from sandbox.machine.instrumented.ir_edits import Edits
from sandbox.machine.instrumented.ir_pointers import root_of

_MARK = re.compile(r'^!(\d+) = !\{!"auto-init"\}', re.M)
_STORE = re.compile(rf"^  store (?:volatile )?(.*), (ptr(?: addrspace\(5\))? ({VALUE}), align (\d+))")
_FILL = re.compile(
    rf"^  call void (@llvm\.mem(?:set|cpy)\.\S+?)\((ptr (?:\w+ )*?align \d+ {VALUE}), .*?, (i64|i32) (\d+), i1 "
)
_LIFE = re.compile(r"^  call void @llvm\.lifetime\.(start|end)\.p5\(ptr addrspace\(5\) (?:nonnull )?(%\S+?)\)")
_VARIABLE = re.compile(r" = alloca (.*), align (\d+)")
_LENGTH = re.compile(r", i\d+ %")
_KEPT = re.compile(r"^  (?:store|ret) ptr (%[^\s,]+)")
_CALL = re.compile(r"^  (?:%\S+ = )?(?:tail |musttail |notail )?call .*?@(?!llvm\.|__ubsan)[^(]*\((.*)\)")
_GIVEN = re.compile(r"\bptr (?:[a-z_]+(?:\([^()]*\))? |align \d+ )*(%[^\s,)]+)")
_ONE_REGISTER = ("i32", "float", "i16", "half", "bfloat")
_TWO_REGISTERS = ("i64", "double", "ptr")
_SIZE = {"i8": 1, "i1": 1}
_LARGE = 1024  # bytes that are set one by one; scratch is undefined anyway until its first store


class UnsetValues:
    """The marks of one module, and what replaces their lines."""

    def __init__(self, text: str) -> None:
        self._marks = tuple(f"!annotation !{number}" for number in _MARK.findall(text))
        self._count = 0

    def __call__(self, edits: Edits) -> None:
        """Unset what begins without a value, and what ends."""
        self._end(edits)
        if not self._marks or "!annotation " not in edits.body.text:
            return
        for number, line in enumerate(edits.body.lines):
            if not line.endswith(self._marks):
                continue
            if store := _STORE.match(line):
                edits.instead[number] = self._stored(edits, number, store)
            elif fill := _FILL.match(line):
                edits.instead[number] = self._filled(edits, number, fill[2], fill[3], int(fill[4]))

    def _end(self, edits: Edits) -> None:
        """Unset what ends and is pointed to."""
        handed = _handed_on(edits.body) if "@llvm.lifetime.end" in edits.body.text else ()
        for number, line in enumerate(edits.body.lines if handed else ()):
            mark = "@llvm.lifetime." in line and _LIFE.match(line)
            if not mark or mark[2] not in handed:
                continue
            kind, alignment = _VARIABLE.findall(edits.body.definitions[mark[2]])[0]
            if _LENGTH.search(kind):
                continue  # an array whose length is computed
            size = f"ptrtoint (ptr getelementptr ({kind}, ptr null, i64 1) to i64)"
            pointer = f"ptr addrspace(5) align {alignment} {mark[2]}"
            edits.instead[number] = [] if mark[1] == "start" else self._filled(edits, number, pointer, "i64", size)

    def _stored(self, edits: Edits, number: int, store: re.Match[str]) -> list[str]:
        kind = store[1].split(" ")[0]
        if kind in _ONE_REGISTER:
            value = self._undefined(edits, number, kind, "v_mov_b32 $0, ttmp0")
        elif kind in _TWO_REGISTERS:
            value = self._undefined(edits, number, kind, "v_mov_b64 $0, ttmp[0:1]")
        elif kind in _SIZE:
            wide = self._undefined(edits, number, "i32", "v_mov_b32 $0, ttmp0")
            value = edits.value(number, f"trunc i32 {wide} to {kind}")
        else:  # a vector
            size = f"ptrtoint (ptr getelementptr ({_vector(store[1])}, ptr null, i64 1) to i64)"
            return self._filled(edits, number, f"ptr align {store[4]} {store[3]}", "i64", size)
        return [f"  store {kind} {value}, {store[2]}{edits.location(number)}"]

    def _filled(self, edits: Edits, number: int, pointer: str, width: str, size: int | str) -> list[str]:
        if isinstance(size, int) and size > _LARGE:
            return []
        wide = self._undefined(edits, number, "i32", "v_mov_b32 $0, ttmp0")
        byte = edits.value(number, f"trunc i32 {wide} to i8")
        space = "p5" if pointer.startswith("ptr addrspace(5)") else "p0"
        call = f"  call void @llvm.memset.{space}.{width}({pointer}, i8 {byte}, {width} {size}, i1 false)"
        return [f"{call}{edits.location(number)}"]

    def _undefined(self, edits: Edits, number: int, kind: str, instruction: str) -> str:
        self._count += 1  # a text of its own: no two variables are known to be equal
        return edits.value(number, f'call {kind} asm "{instruction} ; {self._count}", "=v"() #9002')


def _handed_on(body: Body) -> frozenset[str]:
    """Find the variables of which a pointer is stored, returned, or passed to a function of the source."""
    names = set[str]()
    for line in body.lines:
        if stored := _KEPT.match(line):
            names.add(stored[1])
        elif call := _CALL.match(line):
            names.update(_GIVEN.findall(call[1]))
    roots = {root_of(body, name) for name in names} & body.variables
    origins = {(body.definitions[root].partition("ptr addrspace(5) ")[2] or f"{root} ").split()[0] for root in roots}
    return frozenset(name for name in origins if " = alloca " in body.definitions.get(name, ""))


def _vector(stored: str) -> str:
    """Cut the type in front of a stored vector."""
    depth = 0
    for position, letter in enumerate(stored):
        depth += (letter == "<") - (letter == ">")
        if depth == 0:
            return stored[: position + 1]
    return stored
