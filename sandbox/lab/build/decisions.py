"""The decisions of a launch that follow from its arguments alone, read from a program's optimised LLVM text.

A kernel may do something else for lengths that no case has, by whatever arithmetic: `(n >> 7 & 3) == 3`, `n * 40503 >
LIMIT`. Here every value that follows from a launch's scalar arguments, its grid and its block becomes a step, and so do
the blocks and branches between them; what depends on anything else is left out. `sandbox/lab/decided.py` computes the
steps for many shapes at once and finds those that take a way which no case has taken.

A step is a tuple of words: `("block", label)`, `("leaf", name, kind, index)`, `("value", name, operation, type,
operands...)`, `("parted", divisor)` where something unknown is divided by what is
known, `("phi", name, type, value, block, ...)`, `("branch", condition, then, else)`, `("switch", value, type,
other, number, block, ...)`, `("jump", block)`. A condition that is not known is an empty word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.amdgcn.ir import DEFINITION, LOCAL, Body, bodies
from sandbox.cage.output import read_output

Step = tuple[str, ...]
Steps = tuple[Step, ...]

OPTIMISED = "optimised.ll"
MOST_LINES = 30_000  # of one launch; a longer one is not read
_LAUNCH = re.compile(r"ks_launch_(\d+)$")
_TAIL = re.compile(r"(?:, ![\w.]+ ![\w()]+|, !\w+ !\w+|, !\w+ !DI\w+\([^)]*\))+$|, !.*$")
_LABEL = re.compile(r"^(\"[^\"]*\"|[-\w$.]+):")
_TYPE = r"(?:i\d+|float|double)"
_FLAGS = r"(?:(?:nuw|nsw|exact|disjoint|nneg|samesign|contract|reassoc|nnan|ninf|nsz|arcp|afn|fast) )*"
_BINARY = re.compile(
    rf"(add|sub|mul|udiv|sdiv|urem|srem|shl|lshr|ashr|and|or|xor|fadd|fsub|fmul|fdiv) {_FLAGS}({_TYPE}) (\S+), (\S+)$"
)
_COMPARED = re.compile(rf"(icmp|fcmp) {_FLAGS}(\w+) ({_TYPE}) (\S+), (\S+)$")
_CHOSEN = re.compile(rf"select {_FLAGS}i1 (\S+), ({_TYPE}) (\S+), {_TYPE} (\S+)$")
_CAST = re.compile(
    rf"(trunc|zext|sext|fptrunc|fpext|fptoui|fptosi|uitofp|sitofp|bitcast) {_FLAGS}({_TYPE}) (\S+) to ({_TYPE})$"
)
_SAME = re.compile(rf"freeze ({_TYPE}) (\S+)$")
_CALL = re.compile(
    rf"(?:tail |notail |musttail )?call {_FLAGS}(?:range\([^)]*\) |noundef |signext |zeroext )*({_TYPE})"
    r" @llvm\.(\w+)\.\w+\((.*)\)"
)
_PHI = re.compile(rf"phi {_FLAGS}({_TYPE}) (\[.*)$")
_INCOMING = re.compile(r"\[ ([^,\s]+), %(\"[^\"]*\"|[-\w$.]+) \]")
_POINTER = re.compile(rf"getelementptr (?:inbounds |nuw |nusw )*i8, ptr ({LOCAL}), i64 (\d+)$")
_ADDRESS = re.compile(r"\bptr\b")
_WORD = re.compile(rf"call .*asm .*\"mov[lq] \$1, \$0\".*\(ptr .*?({LOCAL})\)")
_BRANCH = re.compile(r"^  br i1 (\S+), label %(\"[^\"]*\"|[-\w$.]+), label %(\"[^\"]*\"|[-\w$.]+)")
_JUMP = re.compile(r"^  br label %(\"[^\"]*\"|[-\w$.]+)")
_SWITCH = re.compile(r"^  switch (i\d+) (\S+), label %(\"[^\"]*\"|[-\w$.]+) \[")
_CASE = re.compile(r"^    i\d+ (-?\d+), label %(\"[^\"]*\"|[-\w$.]+)")
_NUMBER = re.compile(r"-?\d{1,20}$|true$|false$|-?\d+\.\d+(?:e[-+]\d+)?$|0x[0-9A-F]{16}$")
_FUNCTIONS = {  # and how many operands each takes
    **dict.fromkeys(("ctpop", "bitreverse", "bswap", "floor", "ceil", "trunc", "fabs", "sqrt", "rint", "roundeven"), 1),
    **dict.fromkeys(("ctlz", "cttz", "umin", "umax", "smin", "smax", "abs", "minnum", "maxnum"), 2),
    **dict.fromkeys(("fshl", "fshr", "fmuladd", "fma"), 3),
}
_DIVIDED = frozenset({"udiv", "sdiv", "urem", "srem"})
_IDS, _GIVEN = "ids", "given"
_AT_BLOCK, _AT_GRID, _AT_GIVEN = 32, 48, 64  # bytes from the work-item's numbers, see runtime/workgroup.h
_AXIS_BYTES, _WORD_BYTES = 4, 8


def decisions(module: str, launches: int) -> tuple[Steps, ...]:
    """The steps of each launch of a module; none where nothing is decided so, or there is too much to read."""
    found = [Steps()] * launches
    for body in bodies(module):
        match = _LAUNCH.match(body.name)
        if match and int(match[1]) < launches and len(body.lines) <= MOST_LINES:
            steps = tuple(_Reader(body).steps())
            if any(step[0] == "value" and step[3] == "i1" for step in steps):
                found[int(match[1])] = steps
    return tuple(found)


def decisions_in(work: Path, launches: int) -> tuple[Steps, ...]:
    """The steps of each launch of the program that was built in this folder; none of one without checks."""
    module = work / OPTIMISED
    return decisions(read_output(module).decode("utf-8"), launches) if module.exists() else ()


@dataclass
class _Reader:
    """One pass over a function: a value is known when all that it is made of is."""

    body: Body
    known: set[str] = field(default_factory=set)
    pointers: dict[str, tuple[str, int]] = field(default_factory=dict)  # what they lead to, and how far into it

    def steps(self) -> Iterator[Step]:
        """The steps in the order of the text."""
        if not _LABEL.match(self.body.lines[0]):
            yield "block", ""
        lines = iter(self.body.lines)
        for line in lines:
            if label := _LABEL.match(line):
                yield "block", label[1]
            elif defined := DEFINITION.match(line):
                if step := self._value(defined[1], _TAIL.sub("", defined[2])):
                    if step[0] != "parted":
                        self.known.add(defined[1])
                    yield step
            elif step := self._end(line, lines):
                yield step

    def _end(self, line: str, lines: Iterator[str]) -> Step | None:
        """The step of a block's last line."""
        if branch := _BRANCH.match(line):
            return "branch", self._if_known(branch[1]), branch[2], branch[3]
        if jump := _JUMP.match(line):
            return "jump", jump[1]
        if switch := _SWITCH.match(line):
            cases = list[str]()
            for row in lines:
                if not (case := _CASE.match(row)):
                    break
                cases += case.groups()
            return "switch", self._if_known(switch[2]), switch[1], switch[3], *cases
        return None

    def _if_known(self, word: str) -> str:
        return word if self._is_known(word) else ""

    def _is_known(self, word: str) -> bool:
        return word in self.known or bool(_NUMBER.match(word))

    def _value(self, name: str, text: str) -> Step | None:
        if text.startswith("phi "):
            return self._phi(name, text)
        if _ADDRESS.search(text):
            return self._pointer(name, text)
        step = _operation(name, text)
        if step and any(w in self.known for w in step[4:]) and all(map(self._is_known, step[4:])):
            return step
        if step and step[2] in _DIVIDED and step[5] in self.known:  # a tile map: are all of its bands full?
            return "parted", step[5]
        return None

    def _phi(self, name: str, text: str) -> Step | None:
        found = _PHI.match(text)
        if not found:
            return None
        incoming = _INCOMING.findall(found[2])
        if not incoming or not all(self._is_known(value) for value, _ in incoming):
            return None
        return "phi", name, found[1], *(word for pair in incoming for word in pair)

    def _pointer(self, name: str, text: str) -> Step | None:
        """The leaf that is read through a pointer; None for a pointer, whose place is noted."""
        if "@llvm.threadlocal.address" in text and text.rstrip(")").endswith("@ks_ids"):
            self.pointers[name] = _IDS, 0
        elif (found := _POINTER.match(text)) and found[1] in self.pointers:
            to, at = self.pointers[found[1]]
            self.pointers[name] = to, at + int(found[2])
        elif (found := _WORD.search(text)) and found[1] in self.pointers:
            to, at = self.pointers[found[1]]
            if to == _IDS and at == _AT_GIVEN:
                self.pointers[name] = _GIVEN, 0
            elif leaf := _leaf(to, at):
                return "leaf", name, *leaf
        return None


def _leaf(to: str, at: int) -> tuple[str, str] | None:
    """The leaf at a place: a word of the arguments, or an extent of the launch."""
    if to == _GIVEN:
        index, word = divmod(at // _WORD_BYTES, 2)
        return ("bits" if word else "kind"), str(index)
    for kind, start in (("block", _AT_BLOCK), ("grid", _AT_GRID)):
        if start <= at < start + 3 * _AXIS_BYTES:
            return kind, str((at - start) // _AXIS_BYTES)
    return None


def _operation(name: str, text: str) -> Step | None:
    """The step of a line that computes; None for any that is not understood."""
    if found := _BINARY.match(text):
        return "value", name, found[1], found[2], found[3], found[4]
    if found := _COMPARED.match(text):
        return "value", name, f"{found[1]} {found[2]} {found[3]}", "i1", found[4], found[5]
    if found := _CHOSEN.match(text):
        return "value", name, "select", found[2], found[1], found[3], found[4]
    if found := _CAST.match(text):
        return "value", name, f"{found[1]} {found[2]}", found[4], found[3]
    if found := _SAME.match(text):
        return "value", name, "freeze", found[1], found[2]
    if found := _CALL.match(text):
        given = _arguments(found[3])
        if _FUNCTIONS.get(found[2]) == len(given):
            return "value", name, found[2], found[1], *given
    return None


def _arguments(text: str) -> Sequence[str]:
    """The operands of a call without their types."""
    return [part.split()[-1] for part in text.split(", ")]
