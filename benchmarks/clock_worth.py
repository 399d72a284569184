"""The worth of predicted times: `python -m benchmarks.clock_worth` reads what was predicted and stored.

`python -m benchmarks.clock` predicts by the figures of `[clock]` as shipped, `python -m benchmarks.clock.fit` each
family by figures that were fitted without it. Beside each figure stands the goal, and for the order and the choice the
same of the bound. Points of the same work are those of one family, device and shape; their order counts where the
slowest takes at least twice as long as the fastest. Beside ours stand the times that MGPUSim's authors publish as their
simulator's. `gzip -9n` packs the tables that the two programs write.
"""

from __future__ import annotations

import csv
import hashlib
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.clock.compared import Compared
from benchmarks.clock.mgpusim import published_predictions
from benchmarks.clock.plot import write_plot
from benchmarks.clock.points import Point
from benchmarks.clock.statistics import regret, spearman
from benchmarks.figure import Figure, report
from benchmarks.folders import DATA
from benchmarks.packed import read_text

FILE = DATA / "clock.tsv"
LEFT_OUT = DATA / "clock_left_out.tsv"
PLOT = Path(__file__).parents[1] / "docs" / "pictures" / "clock.svg"
FEWEST, SPREAD = 5, 2.0


@dataclass(frozen=True)
class StoredPoint:
    """A row of the stored table."""

    family: str
    device: str
    dims: str
    measured_us: float
    expected_us: float
    bound_us: float

    @property
    def error(self) -> float:
        """Relative error of the expected time."""
        return abs(self.expected_us - self.measured_us) / self.measured_us


def stored_points(path: Path = FILE) -> list[StoredPoint]:
    """Read a stored table; points that could not be predicted are left out."""
    rows = csv.DictReader(read_text(path).splitlines(), delimiter="\t")
    times = ("measured_us", "expected_us", "bound_us")
    return [
        StoredPoint(row["family"], row["device"], row["dims"], *(float(row[name]) for name in times))
        for row in rows
        if not row["refusal"]
    ]


def same_work(points: Iterable[StoredPoint]) -> list[list[StoredPoint]]:
    """Group points by their work, where their order counts."""
    groups: dict[tuple[str, str, str], list[StoredPoint]] = defaultdict(list)
    for point in points:
        groups[point.family, point.device, point.dims].append(point)
    return [g for g in groups.values() if len(g) >= FEWEST and _spread(g) >= SPREAD]


def _spread(group: Sequence[StoredPoint]) -> float:
    times = [point.measured_us for point in group]
    return max(times) / min(times)


def figures(points: Sequence[StoredPoint], name: str) -> list[Figure]:
    """Give error, order and choice of some points, beside those of their bounds."""
    groups = same_work(points)
    measured = [[p.measured_us for p in g] for g in groups]
    orders, costs = [], []
    for times in ([[p.expected_us for p in g] for g in groups], [[p.bound_us for p in g] for g in groups]):
        ranked = [spearman(t, m) for t, m in zip(times, measured, strict=True)]
        orders.append(median(0.0 if math.isnan(value) else value for value in ranked))
        costs.append([regret(t, m) for t, m in zip(times, measured, strict=True)])
    error, plain = median(p.error for p in points), median(_bound_error(p) for p in points)
    above = sum(p.bound_us > p.measured_us for p in points)
    return [
        Figure(f"clock.{name}.error", error, "", "the bound's", plain, "<= 0.15"),
        Figure(f"clock.{name}.order", orders[0], "", "the bound's", orders[1], ">= 0.9"),
        Figure(f"clock.{name}.regret", median(costs[0]), "", "the bound's", median(costs[1]), "<= 1.05"),
        Figure(f"clock.{name}.worst_regret", max(costs[0]), "", "the bound's", max(costs[1]), "<= 1.2"),
        Figure(f"clock.{name}.bounds_above", above, "points", "points", len(points), "<= 0"),
    ]


def _bound_error(point: StoredPoint) -> float:
    return abs(point.bound_us - point.measured_us) / point.measured_us


def beside_mgpusim(points: Iterable[StoredPoint]) -> list[Figure]:
    """Give the error of MGPUSim's points beside the error of the times that its authors publish."""
    published = published_predictions()
    pairs = [(p, published[p.family, p.dims]) for p in points if (p.family, p.dims) in published]
    theirs = median(abs(time_us - p.measured_us) / p.measured_us for p, time_us in pairs)
    return [Figure("clock.mgpusim_rows.error", median(p.error for p, _ in pairs), "", "MGPUSim's", theirs, "<= 0.15")]


def family_table(points: Sequence[StoredPoint], left_out: Sequence[StoredPoint]) -> list[str]:
    """Give the table of docs/clock.md, a line a family."""
    lines = [
        "|family|device|points|expected/measured|error|error, fitted without it|order over all sizes|",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for family in sorted({p.family for p in points}):
        fitted, without = ([p for p in some if p.family == family] for some in (points, left_out))
        ratio = median(p.expected_us / p.measured_us for p in fitted)
        order = spearman([p.expected_us for p in fitted], [p.measured_us for p in fitted])
        errors = [f"{median(p.error for p in some):.2f}" for some in (fitted, without)]
        lines.append(f"|{'|'.join([family, fitted[0].device, str(len(fitted)), f'{ratio:.2f}', *errors])}|{order:.2f}|")
    return lines


def plotted(points: Iterable[StoredPoint]) -> list[Compared]:
    """Give what the plot needs."""
    nowhere = Path()
    return [
        Compared(
            Point(p.family, p.device, p.dims, {}, "", p.measured_us, "warm", nowhere, nowhere, ""),
            p.expected_us,
            p.bound_us,
        )
        for p in points
    ]


def main() -> int:
    """Print the table of families and the figures; write docs/pictures/clock.svg."""
    points, left_out = stored_points(), stored_points(LEFT_OUT)
    write_plot(PLOT, plotted(points))
    print("\n".join(family_table(points, left_out)))
    digest = hashlib.sha256((read_text(FILE) + read_text(LEFT_OUT)).encode()).hexdigest()[:12]
    rows = [figure for name, some in (("shipped", points), ("left_out", left_out)) for figure in figures(some, name)]
    rows += beside_mgpusim(points)
    return report(f"What predicted times are worth ({len(points)} points, digest {digest})", rows)


if __name__ == "__main__":
    sys.exit(main())
