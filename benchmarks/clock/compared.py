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


def compare(chosen: Sequence[Point], predict: Predict, told: Callable[[Compared], None]) -> list[Compared]:
    """Give each point with its predicted time; each is told as it is there."""
    found = []
    for point in chosen:
        answer = predict(point)
        found.append(Compared(point, refusal=answer) if isinstance(answer, str) else Compared(point, *answer))
        told(found[-1])
    return found


def by_work(compared: Iterable[Compared]) -> dict[tuple[str, str, str], Agreement]:
    """Measure the agreement of each family, device and shape, over what could be predicted."""
    groups: dict[tuple[str, str, str], list[Compared]] = {}
    for one in compared:
        if not one.refusal:
            key = one.point.family, one.point.device, write_dims(one.point.dims)
            groups.setdefault(key, []).append(one)
    return {key: _agreement(group) for key, group in groups.items()}


def _agreement(group: Sequence[Compared]) -> Agreement:
    measured = [one.point.measured_us for one in group]
    return agreement([one.predicted_us for one in group], measured, [one.bound_us for one in group])


def show(compared: Sequence[Compared]) -> None:
    """Print the shapes that several kernels have, a summary of each family, and what could not be predicted."""
    groups = {key: found for key, found in by_work(compared).items() if found.count > 1}
    if groups:
        table(
            ["family", "device", "shape", "n", "predicted/measured", "error", "Spearman", "regret", "bound above"],
            [[*key, *_cells(found)] for key, found in groups.items()],
            right=[3, 4, 5, 6, 7, 8],
        )
    for name in sorted({one.point.family for one in compared}):
        mine = [one for one in compared if one.point.family == name and not one.refusal]
        if mine:
            say(_summary(name, mine, [found for key, found in groups.items() if key[0] == name]))
    for one in compared:
        if one.refusal:
            say(f"not predicted: {one.point.family} {one.point.label}: {one.refusal}")


def _cells(found: Agreement) -> list[str]:
    times = (found.ratio, found.error, found.spearman, found.regret)
    return [str(found.count), *(f"{value:.2f}" for value in times), str(found.above)]


def _summary(name: str, mine: Sequence[Compared], shapes: Sequence[Agreement]) -> str:
    """Give a family's agreement over all its points, and the medians over shapes that several kernels have."""
    every = _agreement(mine)
    said = (
        f"{name}: {every.count} points, predicted/measured {every.ratio:.2f}, error {every.error:.2f}, "
        f"Spearman over all sizes {every.spearman:.2f}, bound above measured {every.above}"
    )
    if not shapes:
        return said
    ranked = [found.spearman for found in shapes if not math.isnan(found.spearman)]
    return said + (
        f"; medians over {len(shapes)} shapes: error {median(s.error for s in shapes):.2f}, "
        f"Spearman {median(ranked) if ranked else math.nan:.2f}, regret {median(s.regret for s in shapes):.2f} "
        f"(worst {max(s.regret for s in shapes):.2f})"
    )
