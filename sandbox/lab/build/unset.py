"""Bytes that a variable holds before it is written: in each work-item and variable others, not one known pattern.

Clang writes a pattern into each variable without a value (`-ftrivial-auto-var-init`), so that the optimiser takes
nothing else for it. A kernel could count on that pattern: compare an unset value with itself, or ask for its sign. On
a GPU it is whatever a register holds. So the pattern is replaced: bytes of ones, NaN in a floating type, in half of the
work-items; zeros in a quarter; any byte in the rest. Where the executor does not mix (`ks_ids[7]` is 0, see
`runtime/workgroup.cpp`), all are ones. Where nothing reads the value, the optimiser drops it as it dropped the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sandbox.amdgcn.ir import DEBUG, VALUE, Body

_MARK = re.compile(r'^!(\d+) = !\{!"auto-init"\}', re.M)
_STORE = re.compile(rf"^  store (?:volatile )?(.*), ptr ({VALUE}), align (\d+)")
_FILL = re.compile(
    rf"^  call void @llvm\.mem(?:set|cpy)\.\S+?\(ptr (?:\w+ )*?align (\d+) ({VALUE}), .*?, (i64|i32) ({VALUE}), i1 "
)
_AGGREGATE = {"[": "]", "<": ">", "{": "}"}
_TRIED = 16777619  # the prime of the FNV hash: it tells neighbouring variables apart

RUNTIME = """
define internal i8 @ks.unset(i32 %variable) alwaysinline sanitize_address {
  %ids = call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @ks_ids)
  %at = getelementptr inbounds i8, ptr %ids, i64 28
  %lane = call i32 asm "movl $1, $0", "=r,*m,~{dirflag},~{fpsr},~{flags}"(ptr elementtype(i32) %ids)
  %seed = call i32 asm "movl $1, $0", "=r,*m,~{dirflag},~{fpsr},~{flags}"(ptr elementtype(i32) %at)
  %number = xor i32 %lane, %variable
  %spread = mul i32 %number, -1640531535
  %mixed = xor i32 %spread, %seed
  %folded = lshr i32 %mixed, 15
  %both = xor i32 %mixed, %folded
  %hash = mul i32 %both, 739982445
  %kind = lshr i32 %hash, 30
  %any = lshr i32 %hash, 16
  %byte = trunc i32 %any to i8
  %is_any = icmp eq i32 %kind, 3
  %little = select i1 %is_any, i8 %byte, i8 0
  %is_one = icmp ult i32 %kind, 2
  %fixed = icmp eq i32 %seed, 0
  %ones = or i1 %is_one, %fixed
  %value = select i1 %ones, i8 -1, i8 %little
  ret i8 %value
}
"""


def marks(text: str) -> frozenset[str]:
    """The endings of the lines by which clang sets what the source leaves unset."""
    return frozenset(f"!annotation !{number}" for number in _MARK.findall(text))


def unset(body: Body, marked: frozenset[str]) -> Mapping[int, list[str]]:
    """For each such line of a function, what stands for it."""
    return dict(_replaced(body, marked)) if marked and "!annotation " in body.text else {}


def _replaced(body: Body, marked: frozenset[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(body.lines):
        if "!annotation " not in line or line[line.rindex("!annotation ") :].strip() not in marked:
            continue
        place = DEBUG.search(line)
        if body.has_lines and not place:
            continue  # of a bridge, whose variables are all written
        if store := _STORE.match(line):
            kind, pointer, alignment = _type(store[1]), store[2], store[3]
            size = f"i64 ptrtoint (ptr getelementptr ({kind}, ptr null, i64 1) to i64)"
        elif fill := _FILL.match(line):
            alignment, pointer, size = fill[1], fill[2], f"{fill[3]} {fill[4]}"
        else:
            continue
        yield number, overwritten(number, pointer, size, alignment, place)


def overwritten(number: int, pointer: str, size: str, alignment: str, place: re.Match[str] | None) -> list[str]:
    """Lines that set bytes at a pointer to what an unset variable holds; `number` differs between variables."""
    suffix = f", {place[0]}" if place else ""
    value, width = f"%ks.unset.{number}", size[:3]
    return [
        f"  {value} = call i8 @ks.unset(i32 {(number + 1) * _TRIED & 0x7FFFFFFF}){suffix}",
        f"  call void @llvm.memset.p0.{width}(ptr align {alignment} {pointer}, i8 {value}, {size}, i1 false){suffix}",
    ]


def _type(stored: str) -> str:
    """The type in front of a stored value."""
    if stored[0] not in _AGGREGATE:
        return stored.split(" ")[0]
    depth = 0
    for at, letter in enumerate(stored):
        depth += (letter in "[<{") - (letter in "]>}")
        if depth == 0:
            return stored[: at + 1]
    return stored
