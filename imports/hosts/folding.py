"""Sequences of launches as loops: what repeats, and how its numbers go on from turn to turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imports.hosts.record import BytePlace, HostCall

MOST_PERIOD, LEAST_VARYING = 48, 3


@dataclass(frozen=True)
class Course:
    """The value of one number or place in each turn of a loop."""

    form: str  # same, line (first + step * turn), shift (first << turn), unshift (first >> turn), turns (two by turns)
    first: int | float | BytePlace
    step: int | BytePlace = 0


@dataclass(frozen=True)
class FoldedStep:
    """One event with the course of each of its values."""

    event: HostCall
    courses: tuple[Course, ...]


@dataclass(frozen=True)
class Folded:
    """Steps that are taken so many times; once where they stand in no loop."""

    turns: int
    steps: tuple[FoldedStep, ...]

    @property
    def is_plain(self) -> bool:
        """True where each turn does the same."""
        return all(c.form == "same" for s in self.steps for c in s.courses)

    @property
    def shape(self) -> tuple[object, ...]:
        """All that must be alike at all sizes."""
        is_loop = self.turns > 1 and not self.is_plain
        return is_loop, tuple((signature(s.event), tuple(c.form for c in s.courses)) for s in self.steps)


def signature(event: HostCall) -> tuple[object, ...]:
    """Return what may not differ between two turns of one loop."""
    types = tuple(tuple(h.type for h in a) for a in event.arguments)
    return event.kind, event.kernel, types, event.width, event.data if event.kind == "symbol" else ""


def values_of(event: HostCall) -> list[int | float | BytePlace]:
    """List all numbers and places of an event, in a fixed order."""
    handed = [h.value for a in event.arguments for h in a]
    if event.kind == "launch":
        return [*event.grid, *event.block, event.lds, *handed]
    return [event.position, event.source, event.size, event.number]


def folded(events: Sequence[HostCall]) -> list[Folded]:
    """Fold a sequence, the longest repetition first at each place."""
    rows, index, parts = list(events), 0, list[Folded]()
    keys = [(signature(e), tuple(map(_key, values_of(e)))) for e in rows]
    while index < len(rows):
        best: Folded | None = None
        for period in range(1, min(MOST_PERIOD, (len(rows) - index) // 2) + 1):
            candidate = _repeated(rows, keys, index, period)
            if candidate and (best is None or candidate.turns * period > best.turns * len(best.steps)):
                best = candidate
        if best is None:
            best = Folded(1, (_once(rows[index]),))
        parts.append(best)
        index += best.turns * len(best.steps)
    return parts


def _key(value: int | float | BytePlace) -> object:
    return repr(value) if isinstance(value, float) else value


def _once(event: HostCall) -> FoldedStep:
    return FoldedStep(event, tuple(Course("same", v) for v in values_of(event)))


def _repeated(rows: Sequence[HostCall], keys: Sequence[tuple[object, ...]], start: int, period: int) -> Folded | None:
    same = alike = 1
    while start + (same + 1) * period <= len(rows) and all(
        keys[start + k] == keys[start + same * period + k] for k in range(period)
    ):
        same += 1
    while start + (alike + 1) * period <= len(rows) and all(
        keys[start + k][0] == keys[start + alike * period + k][0] for k in range(period)
    ):
        alike += 1
    if alike >= max(LEAST_VARYING, same + 1):
        steps = list[FoldedStep]()
        for k in range(period):
            columns = zip(*(values_of(rows[start + t * period + k]) for t in range(alike)), strict=True)
            courses = [course_of(column) for column in columns]
            if None in courses:
                break
            steps.append(FoldedStep(rows[start + k], tuple(c for c in courses if c is not None)))
        if len(steps) == period:
            return Folded(alike, tuple(steps))
    if same > 1:
        return Folded(same, tuple(_once(rows[start + k]) for k in range(period)))
    return None


def course_of(values: Sequence[int | float | BytePlace]) -> Course | None:
    """Find how a value goes on; None where it does so in no simple way."""
    first = values[0]
    if all(_key(v) == _key(first) for v in values):
        return Course("same", first)
    if all(isinstance(v, BytePlace) for v in values):
        return _course_of_places([v for v in values if isinstance(v, BytePlace)])
    if not all(isinstance(v, int) for v in values):
        return None
    numbers = [v for v in values if isinstance(v, int)]
    step = numbers[1] - numbers[0]
    if all(v == numbers[0] + step * t for t, v in enumerate(numbers)):
        return Course("line", numbers[0], step)
    if numbers[0] > 0 and all(v == numbers[0] << t for t, v in enumerate(numbers)):
        return Course("shift", numbers[0])
    if numbers[0] > 0 and all(v == numbers[0] >> t for t, v in enumerate(numbers)):
        return Course("unshift", numbers[0])
    if all(v == numbers[t % 2] for t, v in enumerate(numbers)):
        return Course("turns", numbers[0], numbers[1])
    return None


def _course_of_places(values: Sequence[BytePlace]) -> Course | None:
    if all(v == values[t % 2] for t, v in enumerate(values)):
        return Course("turns", values[0], values[1])
    if len({v.buffer for v in values}) == 1:
        step = values[1].offset - values[0].offset
        if all(v.offset == values[0].offset + step * t for t, v in enumerate(values)):
            return Course("line", values[0], step)
    return None
