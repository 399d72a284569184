"""Geometry of the two drawings, the best-so-far curve and the lineage tree; the template turns it into SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.report.story import Row, Story

LEFT, RIGHT, TOP, BOTTOM = 64.0, 92.0, 18.0, 40.0


@dataclass(frozen=True)
class Mark:
    """One attempt on a drawing."""

    x: float
    y: float
    row: Row
    state: str  # best | record | accepted | rejected


@dataclass(frozen=True)
class Tick:
    """A place on an axis, in pixels, and its text."""

    at: float
    text: str


@dataclass(frozen=True)
class Curve:
    """Best time so far over the attempts, on a logarithmic axis."""

    width: float
    height: float
    line: str  # SVG path
    marks: tuple[Mark, ...]
    y_ticks: tuple[Tick, ...]
    generations: tuple[Tick, ...]  # where each begins
    roofline_y: float | None
    left: float = LEFT
    right: float = 0.0
    top: float = TOP
    bottom: float = 0.0

    @property
    def roofline_label_y(self) -> float:
        """Height of the label of the speed of light, clear of the winner's own."""
        best = next((m.y for m in self.marks if m.state == "best"), 0.0)
        return max(self.roofline_y or 0.0, best + 15) + 4


@dataclass(frozen=True)
class Edge:
    """A line from a parent to its child."""

    path: str
    on_best: bool


@dataclass(frozen=True)
class Tree:
    """The family tree of the kernels: one column a generation, one row a leaf."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    edges: tuple[Edge, ...]
    columns: tuple[Tick, ...]


def state_of(row: Row, best: Row | None) -> str:
    """The style in which an attempt is drawn."""
    if best is not None and row.attempt.id == best.attempt.id:
        return "best"
    if row.attempt.status != "accepted":
        return "rejected"
    return "record" if row.is_record else "accepted"


def draw_curve(story: Story, width: float = 920.0, height: float = 300.0) -> Curve | None:
    """The curve, or None when nothing was timed."""
    timed = [r for r in story.rows if r.attempt.status == "accepted" and r.attempt.time_kind == story.kind]
    times = [r.attempt.geomean_us for r in timed if r.attempt.geomean_us]
    if not times:
        return None
    floor = [story.roofline_us] if story.roofline_us else []
    low, high = math.log10(min(times + floor)), math.log10(max(times))
    margin = max(0.04, (high - low) * 0.08)
    low, high = low - margin, high + margin
    right, bottom = width - RIGHT, height - BOTTOM
    span = max(1, len(story.rows) - 1)

    def x(order: int) -> float:
        return round(LEFT + 10 + (order - 1) / span * (right - LEFT - 20), 1)

    def y(time_us: float) -> float:
        return round(TOP + (high - math.log10(time_us)) / (high - low) * (bottom - TOP), 1)

    marks = tuple(
        Mark(
            x(r.order),
            y(r.attempt.geomean_us) if r in timed and r.attempt.geomean_us else bottom,
            r,
            state_of(r, story.best),
        )
        for r in story.rows
    )
    return Curve(
        width,
        height,
        _steps(marks, right),
        marks,
        tuple(Tick(y(v), format_us(v)) for v in ticks(low, high)),
        tuple(Tick(x(r.order), str(r.attempt.generation)) for r in _first_of_each_generation(story.rows)),
        y(story.roofline_us) if story.roofline_us else None,
        right=right,
        bottom=bottom,
    )


def draw_tree(story: Story, column: float = 160.0, line: float = 22.0) -> Tree:
    """The lineage of every attempt, the winner's line of descent marked."""
    children: dict[str, list[Row]] = {}
    known = {r.attempt.id for r in story.rows}
    for row in story.rows:
        parent = row.attempt.parent_id or ""
        children.setdefault(parent if parent in known else "", []).append(row)
    lines: dict[str, float] = {}
    below = _place(children, lines)
    descent = _descent(story)
    marks = tuple(
        Mark(24 + r.attempt.generation * column, 34 + lines[r.attempt.id] * line, r, state_of(r, story.best))
        for r in story.rows
    )
    at = {m.row.attempt.id: m for m in marks}
    edges = tuple(
        Edge(_curve_between(at[m.row.attempt.parent_id or ""], m), m.row.attempt.id in descent)
        for m in marks
        if (m.row.attempt.parent_id or "") in at
    )
    columns = tuple(Tick(24 + g * column, f"generation {g}" if g else "seeds") for g in range(story.generations + 1))
    return Tree(
        24 + story.generations * column + 150,
        34 + below * line,
        marks,
        tuple(sorted(edges, key=lambda e: e.on_best)),
        columns,
    )


def ticks(low: float, high: float) -> list[float]:
    """Round values between two powers of ten: 1, 2, 5 a decade, or finer where that gives fewer than three."""
    for steps in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), tuple(1 + n / 10 for n in range(90))):
        found = [
            step * 10.0**decade
            for decade in range(math.floor(low) - 1, math.ceil(high) + 1)
            for step in steps
            if low <= math.log10(step) + decade <= high
        ]
        if len(found) >= 3:
            return found[:: max(1, len(found) // 8)]
    return [round(10 ** (low + (high - low) * n / 3), 4) for n in (1, 2)]


def format_us(time_us: float | None) -> str:
    """A time for people: three significant digits with its unit."""
    if time_us is None:
        return "–"
    for scale, unit in ((1e6, "s"), (1e3, "ms"), (1.0, "µs")):
        if time_us >= scale or unit == "µs":
            value = time_us / scale
            digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
            return f"{value:.{min(digits, 4)}f} {unit}"
    return ""


def _steps(marks: Sequence[Mark], right: float) -> str:
    """The staircase through the records, drawn on to the right edge."""
    records = [m for m in marks if m.row.is_record]
    path = f"M{records[0].x} {records[0].y}" + "".join(f"H{m.x}V{m.y}" for m in records[1:])
    return f"{path}H{right}"


def _first_of_each_generation(rows: Sequence[Row]) -> list[Row]:
    first: dict[int, Row] = {}
    for row in rows:
        first.setdefault(row.attempt.generation, row)
    kept = list(first.values())
    return kept[:: max(1, math.ceil(len(kept) / 16))]


def _place(children: dict[str, list[Row]], lines: dict[str, float]) -> int:
    """Give every attempt a line: a leaf the next free one, a parent the line of its first child. No recursion."""
    below, stack = 0, [(row, False) for row in reversed(children.get("", []))]
    seen: set[str] = set()
    while stack:
        row, done = stack.pop()
        name = row.attempt.id
        offspring = [c for c in children.get(name, []) if c.attempt.id != name]
        if done:
            lines[name] = lines[offspring[0].attempt.id]
        elif name not in seen:
            seen.add(name)
            if offspring:
                stack.append((row, True))
                stack.extend((child, False) for child in reversed(offspring))
            else:
                lines[name] = below
                below += 1
    for group in children.values():  # a cycle cannot come from our writer, but a page must still be drawn
        for row in group:
            if row.attempt.id not in lines:
                lines[row.attempt.id] = below
                below += 1
    return below


def _descent(story: Story) -> set[str]:
    by_id = {r.attempt.id: r for r in story.rows}
    line, row = set[str](), story.best
    while row is not None and row.attempt.id not in line:
        line.add(row.attempt.id)
        row = by_id.get(row.attempt.parent_id or "")
    return line


def _curve_between(parent: Mark, child: Mark) -> str:
    middle = (parent.x + child.x) / 2
    return f"M{parent.x} {parent.y}C{middle} {parent.y} {middle} {child.y} {child.x} {child.y}"
