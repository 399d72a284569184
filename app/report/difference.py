"""Source for reading: numbered lines, excerpts around a finding, and the difference between two kernels."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

NEAR = 3  # unchanged lines kept around a change


@dataclass(frozen=True)
class DiffLine:
    """One line of a listing or a difference; a gap stands for unchanged lines left out."""

    sign: str  # " " | "+" | "-" | "gap"
    text: str
    old: int | None = None
    new: int | None = None


def listing(source: str) -> tuple[DiffLine, ...]:
    """The whole source with line numbers."""
    return tuple(DiffLine(" ", text, number, number) for number, text in enumerate(_lines(source), 1))


def excerpt(source: str, line: int | None, around: int = 2) -> tuple[DiffLine, ...]:
    """The lines around one, which is signed with `-`; empty when the line is not in the source."""
    lines = _lines(source)
    if line is None or not 1 <= line <= len(lines):
        return ()
    first = max(1, line - around)
    return tuple(
        DiffLine("-" if number == line else " ", lines[number - 1], number, number)
        for number in range(first, min(len(lines), line + around) + 1)
    )


def difference(old: str, new: str) -> tuple[DiffLine, ...]:
    """From old to new with both line numbers; long unchanged stretches become gaps."""
    before, after = _lines(old), _lines(new)
    rows: list[DiffLine] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            same = [DiffLine(" ", before[i1 + n], i1 + n + 1, j1 + n + 1) for n in range(i2 - i1)]
            rows.extend(_shorten(same, bool(i1 or j1), i2 < len(before) or j2 < len(after)))
        else:
            rows.extend(DiffLine("-", before[i], i + 1, None) for i in range(i1, i2))
            rows.extend(DiffLine("+", after[j], None, j + 1) for j in range(j1, j2))
    return tuple(rows)


def _shorten(same: list[DiffLine], changed_before: bool, changed_after: bool) -> Iterator[DiffLine]:
    head, tail = NEAR if changed_before else 0, NEAR if changed_after else 0
    left_out = len(same) - head - tail
    if left_out < 2:
        yield from same
        return
    yield from same[:head]
    yield DiffLine("gap", f"{left_out} lines unchanged")
    yield from same[len(same) - tail :]


def _lines(source: str) -> list[str]:
    """Split at newlines only, so that numbers agree with the compiler's whatever other separators the text has."""
    lines = source.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines
