"""What the compiler's listing of a host half says of each kernel's parameters: sizes in bytes and layouts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

SCALARS = {"float": 4, "double": 8, "ptr": 8, "half": 2, "bfloat": 2, "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
_STUB = re.compile(r"^define [^@\n]*@(\"[^\"]+\"|[\w.$]+)\(([^\n]*)\)[^\n]*\{\n(.*?)^\}", re.M | re.S)


@dataclass(frozen=True)
class Field:
    """A number or pointer of a parameter: where it lies in it, and its type in the listing."""

    offset: int
    type: str


@dataclass(frozen=True)
class StubParameters:
    """The parameters of one kernel, in order: each its bytes and its fields; one field is a plain one."""

    sizes: tuple[int, ...]
    fields: tuple[tuple[Field, ...], ...]
    is_struct: tuple[bool, ...]


def stub_parameters(llvm: str) -> dict[str, StubParameters]:
    """Read the stubs of a listing, by the kernel's symbol."""
    structs = dict(re.findall(r'^%("[^"]+"|[\w.$:]+) = type (.+)$', llvm, re.M))
    handles = {
        stub.strip('"'): name.strip('"')
        for name, stub in re.findall(
            r'^@("[^"]+"|[\w.$]+) = [^\n]*constant ptr @("[^"]+__device_stub__[^"]*"|[\w.$]*__device_stub__[\w.$]*)',
            llvm,
            re.M,
        )
    }
    kernels = dict[str, StubParameters]()
    for match in _STUB.finditer(llvm):
        stub = match[1].strip('"')
        if stub not in handles:
            continue
        types = _argument_types(match[2], match[3])
        if types is None:
            continue
        rows = [_layout(t, structs) for t in types]
        kernels[handles[stub]] = StubParameters(
            tuple(size for size, _, _ in rows),
            tuple(tuple(fields) for _, _, fields in rows),
            tuple(t.startswith(("%", "[", "{", "<")) for t in types),
        )
    return kernels


def _argument_types(head: str, body: str) -> list[str] | None:
    """Follow the array of arguments that the stub hands over; None where it is not understood."""
    array = re.search(r"(%[\w.]+) = alloca \[(\d+) x ptr\]", body)
    if array is None:
        return [] if "alloca ptr" in body or "hipLaunchKernel" in body else None
    count, positions = int(array[2]), {0: array[1]}
    for name, offset in re.findall(rf"(%[\w.]+) = getelementptr [^\n]*ptr {re.escape(array[1])}, i64 (\d+)", body):
        positions[int(offset) // 8] = name
    locals_ = {n: t for n, t in re.findall(r"(%[\w.]+) = alloca ((?:\[[^\n]*?\]|<[^\n]*?>|%\"[^\"]+\"|[^,\n])+)", body)}
    handed = {n: t for t, n in re.findall(r"ptr [^,()]*byval\(((?:[^()]|\([^()]*\))*)\)[^%]*(%[\w.]+)", head)}
    handed |= {n: t for t, n in re.findall(r"byval\(((?:[^()]|\([^()]*\))*)\)[^%,]*(%[\w.]+)", head)}
    types = list[str]()
    for index in range(count):
        position = positions.get(index)
        stored = re.search(rf"store ptr (%[\w.]+), ptr {re.escape(position)},", body) if position else None
        if stored is None:
            return None
        kind = handed.get(stored[1]) or locals_.get(stored[1])
        if kind is None:
            return None
        types.append(kind.strip())
    return types


def _layout(kind: str, structs: Mapping[str, str]) -> tuple[int, int, list[Field]]:
    """Give bytes, alignment and fields of a type."""
    if kind in SCALARS:
        return SCALARS[kind], SCALARS[kind], [Field(0, kind)]
    if kind.startswith("%"):
        return _layout(structs.get(kind[1:], "{}"), structs)
    if match := re.fullmatch(r"\[(\d+) x (.+)\]", kind):
        size, align, fields = _layout(match[2], structs)
        return (
            int(match[1]) * size,
            align,
            [Field(i * size + f.offset, f.type) for i in range(min(int(match[1]), 4096)) for f in fields],
        )
    if match := re.fullmatch(r"<(\d+) x (.+)>", kind):
        size, _, fields = _layout(match[2], structs)
        rounded = 1 << (int(match[1]) * size - 1).bit_length()
        return rounded, rounded, [Field(i * size + f.offset, f.type) for i in range(int(match[1])) for f in fields]
    packed = kind.startswith("<{")
    inner = kind.strip("<>").strip()[1:-1].strip()
    offset, most, all_fields = 0, 1, list[Field]()
    for part in _parts(inner):
        size, align, fields = _layout(part, structs)
        align = 1 if packed else align
        offset = -(-offset // align) * align
        all_fields += [Field(offset + f.offset, f.type) for f in fields]
        offset, most = offset + size, max(most, align)
    return -(-offset // most) * most, most, all_fields


def _parts(text: str) -> list[str]:
    parts, depth, cursor = list[str](), 0, 0
    for index, sign in enumerate(text):
        depth += sign in "[{<("
        depth -= sign in "]}>)"
        if sign == "," and depth == 0:
            parts.append(text[cursor:index].strip())
            cursor = index + 1
    return [p for p in [*parts, text[cursor:].strip()] if p]
