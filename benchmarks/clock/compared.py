"""Predicted times of points beside the measured ones, grouped by the work that they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from app.screen import say, table
from benchmarks.clock.points import Point
from benchmarks.clock.rows import write_dims
from benchmarks.clock.statistics import Agreement, agreement

Predict = Callable[[Point], float | str]


@dataclass(frozen=True)
class Compared:
    """A point and its predicted time in microseconds, or why it has none."""

    point: Point
    predicted_us: float = 0.0
    refusal: str = ""


def compare(chosen: Sequence[Point], predict: Predict, told: Callable[[Compared], None]) -> list[Compared]:
    """Each point with its predicted time; each is told as it is there."""
    found = []
    for point in chosen:
        answer = predict(point)
        found.append(Compared(point, refusal=answer) if isinstance(answer, str) else Compared(point, answer))
        told(found[-1])
    return found


def by_work(compared: Iterable[Compared]) -> dict[tuple[str, str, str], Agreement]:
    """The agreement of each family, device and shape, over what could be predicted."""
    groups: dict[tuple[str, str, str], list[Compared]] = {}
    for one in compared:
        if not one.refusal:
            key = one.point.family, one.point.device, write_dims(one.point.dims)
            groups.setdefault(key, []).append(one)
    return {
        key: agreement([c.predicted_us for c in group], [c.point.measured_us for c in group])
        for key, group in groups.items()
    }


def show(compared: Sequence[Compared]) -> None:
    """Print the table by shape, its medians, and what could not be predicted."""
    groups = by_work(compared)
    table(
        ["family", "device", "shape", "n", "predicted/measured", "error", "Spearman", "regret", "above"],
        [
            [
                *key,
                str(a.count),
                f"{a.ratio:.2f}",
                f"{a.error:.2f}",
                f"{a.spearman:.2f}",
                f"{a.regret:.2f}",
                str(a.above),
            ]
            for key, a in groups.items()
        ],
        right=[3, 4, 5, 6, 7, 8],
    )
    for name in sorted({key[0] for key in groups}):
        mine = [a for key, a in groups.items() if key[0] == name]
        ranked = [a.spearman for a in mine if a.spearman == a.spearman]
        say(
            f"{name}: {len(mine)} shapes; medians over them: error {median(a.error for a in mine):.2f}, "
            f"Spearman {f'{median(ranked):.2f}' if ranked else '-'}, regret {median(a.regret for a in mine):.2f} "
            f"(worst {max(a.regret for a in mine):.2f})"
        )
    for one in compared:
        if one.refusal:
            say(f"not predicted: {one.point.family} {one.point.label}: {one.refusal}")
