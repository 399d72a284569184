"""Edits of one function in LLVM's text form: lines that come before others or in place of them, and their probes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from sandbox.amdgcn.ir import DEBUG, Body
from sandbox.machine.instrumented.fault_probe import FaultProbe, address_of

INTEGER = re.compile(r"i(\d+)$")
_VECTOR = re.compile(r"<(\d+) x i(\d+)>$")
_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)(?:, column: (\d+))?, scope: !(\d+)", re.M)
_SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock|LexicalBlockFile)\(.*?\bfile: !(\d+)", re.M)
_FILE = re.compile(r'^!(\d+) = !DIFile\(filename: "([^"]*)"', re.M)


@dataclass
class ProbeTable:
    """The probes of a module, and where the source has what its debug locations name."""

    text: str
    source: str  # file name of the candidate
    probes: list[FaultProbe] = field(default_factory=list)

    def __post_init__(self) -> None:
        files = {number for number, name in _FILE.findall(self.text) if name.rpartition("/")[2] == self.source}
        scopes = {number for number, file in _SCOPE.findall(self.text) if file in files}
        self._places = {n: (int(ln), int(col or 0)) for n, ln, col, s in _LOCATION.findall(self.text) if s in scopes}

    def add(self, probe: FaultProbe, location: str) -> int:
        """The guest address of a probe at a debug location `!dbg !N`, or at none."""
        line, column = self._places.get(location.rpartition("!")[2], (0, 0))
        self.probes.append(replace(probe, line=line, column=column))
        return address_of(len(self.probes) - 1)


@dataclass
class Edits:
    """One function of the module, and what becomes of its lines."""

    body: Body
    table: ProbeTable
    head: str  # the line that begins the function
    before: dict[int, list[str]] = field(default_factory=dict)
    instead: dict[int, list[str]] = field(default_factory=dict)
    _names: int = 0

    def text(self) -> str:
        """The function's lines as edited."""
        if not self.before and not self.instead:
            return self.body.text
        edited = list[str]()
        for number, line in enumerate(self.body.lines):
            edited += self.before.get(number, ())
            edited += self.instead.get(number, (line,))
        return "\n".join(edited)

    def location(self, number: int) -> str:
        """The debug location of a line, as it stands behind an instruction; empty where there is none."""
        found = DEBUG.search(self.body.lines[number])
        return f", {found[0]}" if found else ""

    def value(self, number: int, text: str) -> str:
        """The name of a new value, computed before this line."""
        self._names += 1
        name = f"%ks.{self._names}"
        self.before.setdefault(number, []).append(f"  {name} = {text}")
        return name

    def test(self, number: int, is_bad: str, probe: FaultProbe, value: str = "0") -> None:
        """Before this line: lanes in which `is_bad` holds reach the probe, with a number of 64 bits."""
        address, place = self.table.add(probe, self.location(number)), self.location(number)
        call = f"  call void @ks.test(i1 {is_bad}, i64 {address}, i64 {value}){place}"
        self.before.setdefault(number, []).append(call)

    def report(self, number: int, probe: FaultProbe, value: str = "0") -> str:
        """A line by which all lanes that reach it reach the probe."""
        place = self.location(number)
        return f"  call void @ks.report(i64 {self.table.add(probe, place)}, i64 {value}){place}"

    def any_of(self, number: int, kind: str, comparison: str) -> str:
        """The condition that a comparison of integers, or of any elements of vectors, holds."""
        found, name = _VECTOR.match(kind), self.value(number, comparison)
        if not found:
            return name
        return self.value(number, f"call i1 @llvm.vector.reduce.or.v{found[1]}i1(<{found[1]} x i1> {name})")

    def wide(self, number: int, kind: str, value: str) -> str:
        """The value with 64 bits and its sign; 0 for a vector."""
        found = INTEGER.match(kind)
        if not found:
            return "0"
        if found[1] == "64":
            return value
        return self.value(number, f"{'sext' if int(found[1]) < 64 else 'trunc'} {kind} {value} to i64")


def element_bits(kind: str) -> int:
    """Bits of an integer, or of each element of a vector of integers; 0 for another type."""
    found = INTEGER.match(kind) or _VECTOR.match(kind)
    return int(found.groups()[-1]) if found else 0


def splat(kind: str, number: int) -> str:
    """A constant of an integer's type, or of a vector's in all elements."""
    return f"splat (i{element_bits(kind)} {number})" if kind.startswith("<") else str(number)
