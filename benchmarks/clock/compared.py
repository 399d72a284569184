"""Predicted times of points beside the measured ones, grouped by the work that they do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from app.screen import say, table
from benchmarks.clock.points import Point
from benchmarks.clock.rows import write_dims
from benchmarks.clock.statistics import Agreement, agreement

Predict = Callable[[Point], tuple[float, float] | str]  # expected time and bound, or a refusal


@dataclass(frozen=True)
class Compared:
    """A point and its expected time and bound in microseconds, or why it has none."""

    point: Point
    predicted_us: float = 0.0
    bound_us: float = 0.0
    refusal: str = ""


def compare(chosen: Sequence[Point], predict: Predict, report: Callable[[Compared], None]) -> list[Compared]:
    """Give each point with its predicted time; each is told as it is there."""
    compared = []
    for point in chosen:
        answer = predict(point)
        compared.append(Compared(point, refusal=answer) if isinstance(answer, str) else Compared(point, *answer))
        report(compared[-1])
    return compared


def by_work(compared: Iterable[Compared]) -> dict[tuple[str, str, str], Agreement]:
    """Measure the agreement of each family, device and shape, over what could be predicted."""
    groups: dict[tuple[str, str, str], list[Compared]] = {}
    for row in compared:
        if not row.refusal:
            key = row.point.family, row.point.device, write_dims(row.point.dims)
            groups.setdefault(key, []).append(row)
    return {key: _agreement(group) for key, group in groups.items()}


def _agreement(group: Sequence[Compared]) -> Agreement:
    measured = [row.point.measured_us for row in group]
    return agreement([row.predicted_us for row in group], measured, [row.bound_us for row in group])


def show(compared: Sequence[Compared]) -> None:
    """Print the shapes that several kernels have, a summary of each family, and what could not be predicted."""
    groups = {key: agreement for key, agreement in by_work(compared).items() if agreement.count > 1}
    if groups:
        table(
            ["family", "device", "shape", "n", "predicted/measured", "error", "Spearman", "regret", "bound above"],
            [[*key, *_cells(agreement)] for key, agreement in groups.items()],
            right=[3, 4, 5, 6, 7, 8],
        )
    for name in sorted({row.point.family for row in compared}):
        mine = [row for row in compared if row.point.family == name and not row.refusal]
        if mine:
            say(_summary(name, mine, [agreement for key, agreement in groups.items() if key[0] == name]))
    for row in compared:
        if row.refusal:
            say(f"not predicted: {row.point.family} {row.point.label}: {row.refusal}")


def _cells(agreement: Agreement) -> list[str]:
    times = (agreement.ratio, agreement.error, agreement.spearman, agreement.regret)
    return [str(agreement.count), *(f"{value:.2f}" for value in times), str(agreement.above)]


def _summary(name: str, mine: Sequence[Compared], shapes: Sequence[Agreement]) -> str:
    """Give a family's agreement over all its points, and the medians over shapes that several kernels have."""
    overall = _agreement(mine)
    summary = (
        f"{name}: {overall.count} points, predicted/measured {overall.ratio:.2f}, error {overall.error:.2f}, "
        f"Spearman over all sizes {overall.spearman:.2f}, bound above measured {overall.above}"
    )
    if not shapes:
        return summary
    ranked = [shape.spearman for shape in shapes if not math.isnan(shape.spearman)]
    return summary + (
        f"; medians over {len(shapes)} shapes: error {median(s.error for s in shapes):.2f}, "
        f"Spearman {median(ranked) if ranked else math.nan:.2f}, regret {median(s.regret for s in shapes):.2f} "
        f"(worst {max(s.regret for s in shapes):.2f})"
    )
