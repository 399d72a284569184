"""Pointers in a function before any optimisation: from which variable they come, and how arrays are indexed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.amdgcn.ir import VALUE, Body

_SPACE = r"(?: addrspace\(\d\))?"
_BASE = rf"(?:addrspacecast \(ptr{_SPACE} )?({VALUE})(?: to ptr{_SPACE}\))?"
_ELEMENT = re.compile(
    rf"getelementptr (?:[a-z]+ )*(\[(\d+) x .*\]), ptr{_SPACE} {_BASE}, i(?:64|32) 0, i(64|32) ({VALUE})(?:,|$)"
)
_STEP = re.compile(rf"= (?:getelementptr .*?, |addrspacecast |bitcast )ptr{_SPACE} {_BASE}(?=[ ,]|$)")
_MEMBER = re.compile(rf"= getelementptr (?:[a-z]+ )*%(?:\"[^\"]*\"|\S+), ptr{_SPACE} .*?, i32 0, i32 \d+")
_POINTER_STEP = re.compile(rf"= getelementptr (?:[a-z]+ )*[^,]+, ptr{_SPACE} [^,]+, i(?:64|32) {VALUE}(?:, !|$)")


@dataclass(frozen=True)
class Index:
    """One subscript: an array of type `kind` at `base`, element `value`, an integer of so many bits."""

    kind: str
    count: int
    base: str
    width: str
    value: str

    @property
    def item(self) -> str:
        """The type of an element."""
        return self.kind.partition(" x ")[2][:-1]


def index_in(line: str) -> Index | None:
    """Read the subscript of an array that a line computes; None where it computes none."""
    match = _ELEMENT.search(line) if "getelementptr" in line else None
    return Index(match[1], int(match[2]), match[3], match[4], match[5]) if match else None


def subscripts(body: Body, first: Index) -> Iterator[Index]:
    """Yield a subscript and those around it, from the innermost to that of the outermost array."""
    step: Index | None = first
    while step:
        yield step
        step = index_in(body.definitions.get(step.base, ""))


def is_member(body: Body, name: str) -> bool:
    """Tell whether a pointer is to a member of a structure."""
    return bool(_MEMBER.search(body.definitions.get(name, "")))


def is_row(body: Body, name: str) -> bool:
    """Tell whether a pointer is another one and so many elements more, of an array that no type bounds."""
    text = body.definitions.get(name, "")
    return not index_in(text) and bool(_POINTER_STEP.search(text))


def root_of(body: Body, name: str) -> str:
    """Follow a pointer to its origin: a variable, a global, or the value itself where the origin is unknown."""
    while name not in body.variables and (step := _STEP.search(body.definitions.get(name, ""))):
        name = step[1]
    return name


def is_variable(body: Body, name: str) -> bool:
    """Tell whether a pointer is to a variable of the function or of the file, whose alignment is as declared."""
    root = root_of(body, name)
    return root in body.variables or root.startswith("@")
