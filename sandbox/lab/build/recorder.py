"""A program that records what its comparisons of data compared: both sides, their outcome, and where they came from.

It is the sealed text of a candidate's program once more, with a call of the runtime's behind each mark. It is built for
a candidate whose comparisons inputs are sought for (`sandbox/lab/turned_case.py`); all others cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.lab.build.ir import LOCAL, Body, operands

PLACES = 4  # loads of one comparison whose addresses are recorded, as the runtime's function takes
MOST_STEPS = 48  # values that are looked at between a comparison and the loads that it follows from
DECLARED = "declare void @ks_compared(i32, i32, i64, i64, i64, i64, i64, i64)\n"
_LOADED = re.compile(rf" = load (?:atomic )?(?:volatile )?(\S+|<\d+ x \w+>), ptr ({LOCAL})")
_VECTOR = re.compile(r"<(\d+) x (\w+)>$")
_BYTES = {"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}
_FLOATS = {"float": "i32", "double": "i64", "half": "i16", "bfloat": "i16"}
_LEFT_OUT = (" = alloca ", " = getelementptr ", " = inttoptr ", " = ptrtoint ")
_CALL = re.compile(r" = (?:tail |notail )?call [^@]*@(?!llvm\.)| asm ")


@dataclass(frozen=True)
class Load:
    """A load that one side of a comparison follows from: 0 for the left side and 1 for the right one, and its bytes."""

    side: int
    size: int


def loads_of(body: Body, left: str, right: str) -> tuple[tuple[Load, str], ...]:
    """The loads that both sides follow from without a merge, and the names of their pointers; the nearest ones."""
    sides = [list(_loads(body, name, side)) for side, name in enumerate((left, right))]
    first = [one for side in sides for one in side[: PLACES // 2]]
    rest = [one for side in sides for one in side[PLACES // 2 :]]
    return tuple([*first, *rest][:PLACES])


def _loads(body: Body, name: str, side: int) -> Iterator[tuple[Load, str]]:
    fresh, seen = [name], set[str]()
    while fresh and len(seen) < MOST_STEPS:
        value = fresh.pop(0)
        made = "" if value in seen else body.definitions.get(value, "")
        seen.add(value)
        if loaded := _LOADED.search(made):
            if size := _size(loaded[1]):
                yield Load(side, size), loaded[2]
        elif " = phi " in made:
            fresh += operands(made)[:1] if made.count("[ ") == 1 else []  # of one way there is nothing to choose
        elif made and not _CALL.search(made) and not any(word in made for word in _LEFT_OUT):
            fresh += operands(made)


def _size(kind: str) -> int:
    if vector := _VECTOR.match(kind):
        return int(vector[1]) * _BYTES.get(vector[2], 0)
    return _BYTES.get(kind, 0)


def can_record(kind: str) -> bool:
    """True for values of a type whose bits fit a word."""
    return kind in _FLOATS or (kind[:1] == "i" and kind[1:].isdigit() and 1 < int(kind[1:]) <= 64)


def recorded(number: int, truth: str, kind: str, sides: tuple[str, str], pointers: list[str]) -> str:
    """The lines that hand a comparison to the runtime."""
    lines, words = list[str](), list[str]()
    for at, side in enumerate(sides):
        word, name = side, f"%ks.side.{number}.{at}"
        whole = _FLOATS.get(kind, kind)
        if kind in _FLOATS:
            lines.append(f"  {name}.bits = bitcast {kind} {side} to {whole}")
            word = f"{name}.bits"
        if whole != "i64":
            lines.append(f"  {name} = zext {whole} {word} to i64")
            word = name
        words.append(f"i64 {word}")
    for at, pointer in enumerate(pointers):
        lines.append(f"  %ks.from.{number}.{at} = ptrtoint ptr {pointer} to i64")
        words.append(f"i64 %ks.from.{number}.{at}")
    words += ["i64 0"] * (PLACES - len(pointers))
    lines.append(f"  %ks.truth.{number} = zext i1 {truth} to i32")
    lines.append(f"  call void @ks_compared(i32 {number}, i32 %ks.truth.{number}, {', '.join(words)})")
    return "\n".join(lines)
