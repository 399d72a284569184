"""A program that records what its comparisons of data compared: both sides, their outcome, and where they came from.

It is the sealed text of a candidate's program once more, with a call of the runtime's behind each mark and behind each
load that a comparison may follow from. It is built where inputs are sought on which comparisons go the other way
(`sandbox/lab/turned_case.py`); all others cost nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sandbox.amdgcn.ir import LOCAL, Body, operands

PLACES = 8  # addresses of one row, as the runtime's function notes
SITES = 16  # loads of one comparison that are followed, the nearest ones
MOST_STEPS = 400  # values that are looked at between a comparison and the loads that it follows from
DECLARED = (
    "declare void @ks_loaded(i32, i64, i32)\ndeclare void @ks_compared(i32, i32, i64, i64, ptr, i32)\n"  # the runtime's
)
_LOADED = re.compile(rf"^  {LOCAL} = load (?:atomic )?(?:volatile )?(<\d+ x \w+>|\S+), ptr ({LOCAL})")
_VECTOR = re.compile(r"<(\d+) x (\w+)>$")
_BYTES = {"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}
_FLOATS = {"float": "i32", "double": "i64", "half": "i16", "bfloat": "i16"}
_LEFT_OUT = re.compile(r" = (?:alloca|getelementptr|inttoptr|ptrtoint) | asm ")


@dataclass
class Sites:
    """The loads of a module that comparisons follow from, by the lines of the function that is being read."""

    count: int = 0
    tables: list[str] = field(default_factory=list)
    _lines: dict[int, tuple[int, str, int]] = field(default_factory=dict)  # number, pointer and bytes of a site

    def begin(self) -> None:
        """Go on with another function."""
        self._lines.clear()

    def of(self, body: Body, sides: tuple[str, str]) -> list[int]:
        """The numbers of the loads that both sides of a comparison may follow from."""
        found, fresh, seen = list[int](), list(sides), set[str]()
        while fresh and len(seen) < MOST_STEPS and len(found) < SITES:
            name = fresh.pop(0)
            at = -1 if name in seen else body.places.get(name, -1)
            seen.add(name)
            if at < 0:
                continue
            made = body.lines[at]
            if loaded := _LOADED.match(made):
                if size := _size(loaded[1]):
                    self._lines.setdefault(at, (len(self._lines) + self.count, loaded[2], size))
                    found.append(self._lines[at][0])
            elif not _LEFT_OUT.search(made):
                fresh += operands(made)
        return found

    def close(self, body: Body, made: dict[int, str]) -> None:
        """Add a call of the runtime's behind each of these loads."""
        for at, (number, pointer, size) in self._lines.items():
            word = f"%ks.site.{number}"
            made[at] = (
                f"{made.get(at, body.lines[at])}\n  {word} = ptrtoint ptr {pointer} to i64\n"
                f"  call void @ks_loaded(i32 {number}, i64 {word}, i32 {size})"
            )
        self.count += len(self._lines)

    def table(self, number: int, sites: list[int]) -> str:
        """The name of a constant that lists the loads of one comparison."""
        if not sites:
            return "null"
        listed = ", ".join(f"i32 {site}" for site in sites)
        self.tables.append(f"@ks.sites.{number} = private constant [{len(sites)} x i32] [{listed}]\n")
        return f"@ks.sites.{number}"


def _size(kind: str) -> int:
    if vector := _VECTOR.match(kind):
        return int(vector[1]) * _BYTES.get(vector[2], 0)
    return _BYTES.get(kind, 0)


def can_record(kind: str) -> bool:
    """True for values of a type whose bits fit a word."""
    return kind in _FLOATS or (kind[:1] == "i" and kind[1:].isdigit() and 1 < int(kind[1:]) <= 64)


def recorded(number: int, truth: str, kind: str, sides: tuple[str, str], table: tuple[str, int]) -> str:
    """The lines that hand a comparison to the runtime, with the table of the loads that it follows from."""
    lines, words = list[str](), list[str]()
    for at, side in enumerate(sides):
        word, name, whole = side, f"%ks.side.{number}.{at}", _FLOATS.get(kind, kind)
        if kind in _FLOATS:
            lines.append(f"  {name}.bits = bitcast {kind} {side} to {whole}")
            word = f"{name}.bits"
        if whole != "i64":
            lines.append(f"  {name} = zext {whole} {word} to i64")
            word = name
        words.append(f"i64 {word}")
    lines.append(f"  %ks.truth.{number} = zext i1 {truth} to i32")
    given = f"i32 {number}, i32 %ks.truth.{number}, {', '.join(words)}, ptr {table[0]}, i32 {table[1]}"
    return "\n".join([*lines, f"  call void @ks_compared({given})"])
