"""Reads the functions of a module in LLVM's text form, as clang writes it before any optimisation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from records.computed_once import computed_once

VALUE = r"(?:[%@](?:\"[^\"]*\"|[-\w$.]+)|-?\d+|null|true|false|poison|undef)"
DEBUG = re.compile(r"!dbg !\d+")
LOCAL = r"%(?:\"[^\"]*\"|[-\w$.]+)"  # a value's name
DEFINITION = re.compile(rf"^  ({LOCAL}) = (.*)$")
_NAME = re.compile(LOCAL)
_LABEL = re.compile(r"^(\"[^\"]*\"|[-\w$.]+):")
_BRANCH = re.compile(r"^  br i1 ([^\s,]+), label %([^\s,]+), label %([^\s,]+)")
_FUNCTION = re.compile(r"^define .*?@(\"[^\"]*\"|[-\w$.]+)\(.*\{\n", re.M)


@dataclass(frozen=True)
class Body:
    """The lines of one function without its head, and where they stand in the module."""

    name: str
    start: int
    end: int
    text: str
    lines: tuple[str, ...]
    has_lines: bool  # it has debug information, so every call needs a place
    head: str = ""  # the line that begins it

    @computed_once
    def defining_lines(self) -> dict[str, int]:
        """Find the line that defines each value."""
        return {match[1]: number for number, line in enumerate(self.lines) if (match := DEFINITION.match(line))}

    @computed_once
    def definitions(self) -> dict[str, str]:
        """Find the text that defines each value."""
        return {name: self.lines[number] for name, number in self.defining_lines.items()}

    @computed_once
    def variables(self) -> frozenset[str]:
        """Find the variables on the stack; on gfx942 also each one's generic address."""
        marks = (" = alloca ", " = addrspacecast ptr addrspace(5) ")
        return frozenset(name for name, text in self.definitions.items() if any(mark in text for mark in marks))

    @computed_once
    def conditions(self) -> dict[str, str]:
        """Find on which value it depends whether a block is reached."""
        branches = (_BRANCH.match(line) for line in self.lines)
        return {label: branch[1] for branch in branches if branch for label in branch.groups()[1:]}

    @computed_once
    def labels(self) -> dict[str, int]:
        """Find the line at which each block starts."""
        return {match[1]: number for number, line in enumerate(self.lines) if (match := _LABEL.match(line))}


def bodies(text: str) -> Iterator[Body]:
    """Yield every function that is defined, in order."""
    for head in _FUNCTION.finditer(text):
        end = text.index("\n}", head.end() - 1)
        body = text[head.end() : end]
        yield Body(head[1].strip('"'), head.end(), end, body, tuple(body.split("\n")), " !dbg " in head[0], head[0])


def operands(line: str) -> list[str]:
    """List the values of the function that a line uses."""
    match = DEFINITION.match(line)
    return _NAME.findall(match[2] if match else line)
