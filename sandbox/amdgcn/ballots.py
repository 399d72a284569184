"""Ballots of a wave among the values of a function: the places where they are cut to fewer bits, and the intent.

A cut is meant where the function also takes the upper half: `(uint32_t)b` beside `(uint32_t)(b >> 32)`. It also counts
as meant where the ballot leaves what is followed here: a constant mask, a copy in memory that is read otherwise, a
call. Counting or comparing all 64 bits excuses nothing. Ballots that no variable holds are one group, since both halves
may be taken of two calls. A parameter may hold a ballot of the caller's; it is followed in order to excuse only.
Whether bits are lost is for the run to say.
"""

from __future__ import annotations

import re

from sandbox.amdgcn.ir import VALUE, Body, bodies, operands

# what a ballot of HIP is on gfx942
_BALLOT = re.compile(r"= call .*@(?:llvm\.amdgcn\.(?:ballot|[iuf]cmp)\.i64[.(])")
_CALL = re.compile(r"call [^@]*@(\"[^\"]*\"|[-\w$.]+)\(")
_RETURN = re.compile(rf"^  ret i64 ({VALUE})")
_STORE = re.compile(rf"^  store (?:volatile )?i64 ({VALUE}), ptr ({VALUE}),")
_LOAD = re.compile(rf"= load (?:volatile )?i64, ptr ({VALUE}),")
_BITWISE = re.compile(rf"= (?:and|or|xor) (?:disjoint )?i64 ({VALUE}), ({VALUE})")
_CUT = re.compile(rf"= trunc (?:nuw |nsw )*i64 ({VALUE}) to i(?:32|16|8)\b")
_WHOLE = re.compile(r"popcll|ffsll|clzll|ctpop|cttz|ctlz|popcount|llvm\.lifetime|__ubsan_handle_implicit")
_COMPLAINT = "@__ubsan_handle_implicit_conversion("
_UNNAMED = ""


def returning_ballots(text: str) -> frozenset[str]:
    """Find the module's functions that return a ballot, as `__ballot()` does."""
    if not _BALLOT.search(text):
        return frozenset()
    functions, names = list(bodies(text)), frozenset[str]()
    while True:
        grown = names | {body.name for body in functions if body.name not in names and Ballots(body, names).returned}
        if grown == names:
            return names
        names = grown


class Ballots:
    """The ballots of one function, in groups that hold the same one."""

    def __init__(self, body: Body, sources: frozenset[str]) -> None:
        self._body, self._sources = body, sources
        self._group: dict[str, str] = {}
        self._ballots: set[str] = set()  # groups that hold a ballot of this function
        self.returned = False
        self._intended: set[str] = set()
        self._follows_parameters = _COMPLAINT in body.text
        ballot_values = [line.split(" = ")[0].strip() for line in body.lines if self._is_source(line)]
        if not ballot_values and not self._follows_parameters:
            return
        while self._spread():
            pass
        self._merge_unnamed()
        self._ballots = {self._group[name] for name in ballot_values}
        for line in body.lines:
            self._judge(line)

    def cuts(self) -> list[tuple[int, str]]:
        """Find the lines that lose the upper half, and of which value."""
        groups = self._ballots - self._intended
        rows = enumerate(self._body.lines if groups else ())
        return [
            (number, match[1])
            for number, line in rows
            if (match := _CUT.search(line)) and self._group.get(match[1]) in groups
        ]

    def excused(self) -> set[int]:
        """Find the lines in which clang complains of a cut that is meant."""
        return {
            number
            for number, line in enumerate(self._body.lines if self._intended else ())
            if _COMPLAINT in line and any(self._group.get(name) in self._intended for name in operands(line))
        }

    def _is_source(self, line: str) -> bool:
        call = " = call " in line and _CALL.search(line)
        return bool(call and (call[1].strip('"') in self._sources or _BALLOT.search(line)))

    def _spread(self) -> bool:
        """Follow ballots one step along the lines; whether that found more."""
        before = dict(self._group)
        for line in self._body.lines:
            name = line.split(" = ")[0].strip()
            if self._is_source(line):
                self._join(name, name)
            elif (match := _STORE.match(line)) and self._is_followed(match[1]) and match[2] in self._body.variables:
                self._join(match[2], match[1])
            elif (match := _LOAD.search(line)) and match[1] in self._group:
                self._join(name, match[1])
            elif match := _BITWISE.search(line):
                for value, other in ((match[1], match[2]), (match[2], match[1])):
                    if value in self._group and (other.startswith("%") or other == "-1"):
                        self._join(name, value)
        return self._group != before

    def _is_followed(self, name: str) -> bool:
        is_parameter = name.startswith("%") and name not in self._body.defining_lines
        return name in self._group or (is_parameter and self._follows_parameters)

    def _join(self, name: str, other: str) -> None:
        old, new = self._group.get(name), self._group.get(other, other)
        self._group[name] = new
        if old is not None and old != new:
            self._group = {key: new if group == old else group for key, group in self._group.items()}

    def _merge_unnamed(self) -> None:
        variable_groups = {self._group[name] for name in self._body.variables if name in self._group}
        self._group = {name: group if group in variable_groups else _UNNAMED for name, group in self._group.items()}

    def _judge(self, line: str) -> None:
        """Note where a group's upper half is taken, or where it goes out of sight."""
        used = [name for name in operands(line) if name in self._group]
        if not used or _WHOLE.search(line) or " = alloca " in line or " icmp " in line:
            return
        returned = _RETURN.match(line)
        self.returned = self.returned or bool(returned and self._group.get(returned[1]) in self._ballots)
        if _CUT.search(line) or _LOAD.search(line):
            return
        if (store := _STORE.match(line)) and store[2] in self._group:
            return
        if _BITWISE.search(line) and line.split(" = ")[0].strip() in self._group:
            return
        self._intended.update(self._group[name] for name in used)
