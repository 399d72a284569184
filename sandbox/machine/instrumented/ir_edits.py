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
        self._locations = {n: (int(ln), int(col or 0)) for n, ln, col, s in _LOCATION.findall(self.text) if s in scopes}

    def add(self, probe: FaultProbe, location: str) -> int:
        """Add a probe at a debug location `!dbg !N`, or at none; return its guest address."""
        line, column = self._locations.get(location.rpartition("!")[2], (0, 0))
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
        """Join the function's lines as edited."""
        if not self.before and not self.instead:
            return self.body.text
        edited = list[str]()
        for number, line in enumerate(self.body.lines):
            edited += self.before.get(number, ())
            edited += self.instead.get(number, (line,))
        return "\n".join(edited)

    def location(self, number: int) -> str:
        """Find the debug location of a line, as it stands behind an instruction; empty where there is none."""
        match = DEBUG.search(self.body.lines[number])
        return f", {match[0]}" if match else ""

    def value(self, number: int, text: str) -> str:
        """Compute a new value before this line; return its name."""
        self._names += 1
        name = f"%ks.{self._names}"
        self.before.setdefault(number, []).append(f"  {name} = {text}")
        return name

    def test(self, number: int, is_bad: str, probe: FaultProbe, value: str = "0") -> None:
        """Test before this line: lanes in which `is_bad` holds reach the probe, with a number of 64 bits."""
        address, location = self.table.add(probe, self.location(number)), self.location(number)
        call = f"  call void @ks.test(i1 {is_bad}, i64 {address}, i64 {value}){location}"
        self.before.setdefault(number, []).append(call)

    def report(self, number: int, probe: FaultProbe, value: str = "0") -> str:
        """Write a line by which all lanes that reach it reach the probe."""
        location = self.location(number)
        return f"  call void @ks.report(i64 {self.table.add(probe, location)}, i64 {value}){location}"

    def any_of(self, number: int, kind: str, comparison: str) -> str:
        """Compute whether a comparison of integers, or of any elements of vectors, holds; return the value's name."""
        vector, name = _VECTOR.match(kind), self.value(number, comparison)
        if not vector:
            return name
        return self.value(number, f"call i1 @llvm.vector.reduce.or.v{vector[1]}i1(<{vector[1]} x i1> {name})")

    def wide(self, number: int, kind: str, value: str) -> str:
        """Widen a value to 64 bits with its sign; 0 for a vector."""
        match = INTEGER.match(kind)
        if not match:
            return "0"
        if match[1] == "64":
            return value
        return self.value(number, f"{'sext' if int(match[1]) < 64 else 'trunc'} {kind} {value} to i64")


def element_bits(kind: str) -> int:
    """Count the bits of an integer, or of each element of a vector of integers; 0 for another type."""
    match = INTEGER.match(kind) or _VECTOR.match(kind)
    return int(match.groups()[-1]) if match else 0


def splat(kind: str, number: int) -> str:
    """Write a constant of an integer's type, or of a vector's in all elements."""
    return f"splat (i{element_bits(kind)} {number})" if kind.startswith("<") else str(number)
