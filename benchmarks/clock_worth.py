"""The worth of predicted times: `python -m benchmarks.clock_worth` reads what `python -m benchmarks.clock` has stored.

Beside each figure stands today's goal, and for the order and the choice the same of the bound, which is what used to be
predicted. Points of the same work are those of one family, device and shape; their order counts where the slowest takes
at least twice as long as the fastest. Families that the figures of `[clock]` were fitted to stand apart from others.
"""

from __future__ import annotations

import csv
import hashlib
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.clock.compared import Compared
from benchmarks.clock.plot import write_plot
from benchmarks.clock.points import Point
from benchmarks.clock.statistics import regret, spearman
from benchmarks.figure import Figure, report
from benchmarks.stored_data import DATA

FILE = DATA / "clock.tsv"
PLOT = Path(__file__).parents[1] / "docs" / "pictures" / "clock.svg"
FITTED = frozenset(
    [
        *("vectoradd", "atax", "im2col", "kmeans", "stencil2d", "simpleconvolution", "nbody"),
        *("stream_scale", "stream_small", "rms_norm_fp8", "swiglu_fp8"),
    ]
)
FITTED_SHAPES = 3  # of fp8_gemm: each third one, in order
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
    is_fitted: bool

    @property
    def error(self) -> float:
        """Relative error of the expected time."""
        return abs(self.expected_us - self.measured_us) / self.measured_us


def stored_points() -> list[StoredPoint]:
    """Read the stored table."""
    rows = list(csv.DictReader(FILE.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
    shapes = sorted({_dims(row) for row in rows if row["family"] == "fp8_gemm"})[::FITTED_SHAPES]
    return [
        StoredPoint(
            row["family"],
            row["device"],
            row["dims"],
            float(row["measured_us"]),
            float(row["expected_us"]),
            float(row["bound_us"]),
            row["family"] in FITTED or (row["family"] == "fp8_gemm" and _dims(row) in shapes),
        )
        for row in rows
        if not row["refusal"]
    ]


def _dims(row: Mapping[str, str]) -> tuple[int, ...]:
    return tuple(int(part.partition("=")[2]) for part in row["dims"].split(","))


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


def family_table(points: Sequence[StoredPoint]) -> list[str]:
    """Give the table of docs/clock.md, a line a family."""
    lines = ["| family | device | points | expected/measured | error | order over all sizes | fitted |"]
    lines.append("|---|---|--:|--:|--:|--:|---|")
    for family in sorted({p.family for p in points}):
        own = [p for p in points if p.family == family]
        ratio = median(p.expected_us / p.measured_us for p in own)
        order = spearman([p.expected_us for p in own], [p.measured_us for p in own])
        fitted = sum(p.is_fitted for p in own)
        how = "no" if not fitted else "yes" if fitted == len(own) else f"{fitted} of them"
        cells = (family, own[0].device, str(len(own)), f"{ratio:.2f}", f"{median(p.error for p in own):.2f}")
        lines.append(f"| {' | '.join(cells)} | {order:.2f} | {how} |")
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
    points = stored_points()
    write_plot(PLOT, plotted(points))
    print("\n".join(family_table(points)))
    digest = hashlib.sha256(FILE.read_bytes()).hexdigest()[:12]
    parts = (("fitted", [p for p in points if p.is_fitted]), ("others", [p for p in points if not p.is_fitted]))
    found = [figure for name, some in parts for figure in figures(some, name)]
    return report(f"What predicted times are worth ({len(points)} points, digest {digest})", found)


if __name__ == "__main__":
    sys.exit(main())
