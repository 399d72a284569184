"""Fit the figures of `[clock]` to measured points: `python -m benchmarks.clock.fit --help`.

Least squares over logarithms of the figures, by Gauss and Newton. What is minimised: of each point the logarithm of
predicted over measured, each family with the same weight; of kernels of the same work also how far that lies from their
mean, which is what their order and a choice depend on; and of each figure its distance from what hardware suggests,
over a width, so that no figure leaves it without need. Then each family is left out in turn, the figures are fitted to
the others from there on, and the family's error is told; those times go to FOLDER/left_out.tsv.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.screen import say
from app.settings import load_settings
from benchmarks.clock.__main__ import fetch_all, lab_of
from benchmarks.clock.compared import Compared, show
from benchmarks.clock.points import family_names, points
from benchmarks.clock.recorded import Recorded, record
from benchmarks.clock.rows import write_dims
from benchmarks.clock.sheet import sheet
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.machine.executor import executor
from sandbox.target import load_target

Figures = Mapping[str, float]
Vector = NDArray[np.float64]

# Figure: what hardware suggests, and the width of that, a factor. Latencies: public microbenchmarks of CDNA2 and CDNA3.
SUGGESTED: Mapping[str, tuple[float, float]] = {
    "launch_us": (3.3, 1.15), "next_launch_us": (1.2, 1.3), "issue": (4, 1.08), "matrix_issue": (4, 1.3),
    "scalar_issue": (4, 1.3), "lds_issue": (4, 1.3), "memory_issue": (4, 1.3), "vector_latency": (5, 1.2),
    "matrix_latency": (8, 1.6), "scalar_latency": (110, 1.3), "branch": (16, 1.6), "barrier": (32, 1.7),
    "lds_latency": (64, 1.3), "lds_queue": (64, 2.5), "address_queue": (128, 2.5), "l1_latency": (125, 1.15),
    "l2_latency": (270, 1.2), "mall_latency": (520, 1.2), "hbm_latency": (800, 1.15), "unit_l2": (64, 1.15),
    "unit_mall": (40, 1.4), "unit_hbm": (20, 1.4), "l2_share": (0.6, 1.4), "mall_share": (0.65, 1.3),
    "hbm_share": (0.8, 1.06), "burst": (1500, 3), "start": (200, 2), "dispatch": (4, 2), "matrix_clock": (0.65, 1.2),
}  # fmt: skip
BOUNDS: Mapping[str, tuple[float, float]] = {
    "issue": (4, 8), "matrix_issue": (4, 16), "scalar_issue": (4, 16), "lds_issue": (4, 16), "memory_issue": (4, 16),
    "hbm_share": (0.5, 0.95), "mall_share": (0.2, 0.95), "l2_share": (0.1, 0.95), "matrix_clock": (0.4, 1),
}  # fmt: skip
LARGEST = 0.7  # of a logarithm: what the model does not know must not rule it
EACH = 0.15  # error of a family that is as bad as a figure one width away
ORDER = 1.0  # weight of the distance from the mean of the same work
STEP = 1.06  # of a figure, for a derivative
FURTHEST = math.log(1.6)  # that a figure moves at once
ROUNDS = 2


@dataclass
class Fit:
    """A search for the figures that suit some recorded points."""

    points: Sequence[Recorded]
    program: Path
    workers: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))

    def predicted(self, figures: Figures, chosen: Sequence[Recorded] | None = None) -> Vector:
        """Give the time of each point by a clock with these figures."""
        points = self.points if chosen is None else chosen
        with ThreadPoolExecutor(self.workers) as pool:
            forecasts = list(pool.map(lambda point: point.retimed(self.program, figures), points))
        return np.array([forecast.predicted_us(expected) for forecast, expected in zip(points, forecasts, strict=True)])

    def errors(self, figures: Figures) -> Vector:
        """Give the logarithm of predicted over measured of each point."""
        measured = np.array([recorded.point.measured_us for recorded in self.points])
        errors: Vector = np.log(np.maximum(self.predicted(figures), 1e-3) / measured)
        return errors

    def derivatives(self, figures: Figures, errors: Vector) -> NDArray[np.float64]:
        """Give the change of each point's error with the logarithm of each figure."""
        columns = []
        for name in SUGGESTED:
            step = STEP if figures[name] * STEP <= _bounds(name)[1] else 1 / STEP
            changed = self.errors({**figures, name: figures[name] * step})
            columns.append((changed - errors) / math.log(step))
        return np.stack(columns, axis=1)

    def run(self, figures: Figures) -> tuple[Figures, Linearised]:
        """Search; the figures, and what they were fitted with last."""
        best = dict(figures)
        errors = self.errors(best)
        loss = Linearised.of(self, best, errors, np.zeros((len(errors), len(SUGGESTED)))).loss()
        for number in range(ROUNDS):
            linearised = Linearised.of(self, best, errors, self.derivatives(best, errors))
            better = self._shorter(linearised, loss)
            if better is None:
                break
            best, errors, loss = better
            fitted = ", ".join(f"{name} = {best[name]:.4g}" for name in SUGGESTED)
            say(f"round {number + 1}: loss {loss:.4f}; {fitted}")
        return best, Linearised.of(self, best, errors, self.derivatives(best, errors))

    def _shorter(self, linearised: Linearised, loss: float) -> tuple[dict[str, float], Vector, float] | None:
        for share in (1.0, 0.5, 0.2):
            figures = linearised.solved(share=share)
            errors = self.errors(figures)
            now = Linearised.of(self, figures, errors, linearised.derivatives).loss()
            if now < loss:
                return figures, errors, now
        return None


@dataclass(frozen=True)
class Linearised:
    """Errors and their derivatives at some figures."""

    figures: Figures
    families: Sequence[str]
    works: Sequence[str]
    errors: Vector
    derivatives: NDArray[np.float64]

    @staticmethod
    def of(fit: Fit, figures: Figures, errors: Vector, derivatives: NDArray[np.float64]) -> Linearised:
        """Give them with the families and works of the points."""
        families = [recorded.point.family for recorded in fit.points]
        works = [f"{p.family} {p.device} {write_dims(p.dims)}" for p in (recorded.point for recorded in fit.points)]
        return Linearised(figures, families, works, errors, derivatives)

    def solved(self, left_out: str = "", share: float = 1.0) -> dict[str, float]:
        """Give the figures that are best where errors are linear, with a family left out."""
        rows, targets = self._equations(left_out)
        step, *_ = np.linalg.lstsq(rows, targets, rcond=None)
        step = np.clip(step * share, -FURTHEST, FURTHEST)
        moved = {name: self.figures[name] * math.exp(step[i]) for i, name in enumerate(SUGGESTED)}
        bounded = {name: min(max(value, _bounds(name)[0]), _bounds(name)[1]) for name, value in moved.items()}
        return {**self.figures, **bounded}

    def loss(self) -> float:
        """Give the sum of squares that is minimised."""
        return float(np.sum(self._equations("")[1] ** 2))

    def _equations(self, left_out: str) -> tuple[NDArray[np.float64], Vector]:
        indices = [i for i, name in enumerate(self.families) if name != left_out]
        sizes, groups = defaultdict[str, int](int), defaultdict[str, list[int]](list)
        for i in indices:
            sizes[self.families[i]] += 1
            groups[self.works[i]].append(i)
        weights = np.array([1 / math.sqrt(sizes[self.families[i]]) / EACH for i in indices])
        capped = np.minimum(1, LARGEST / np.maximum(np.abs(self.errors[indices]), 1e-9)) ** 0.5
        rows = [self.derivatives[indices] * (weights * capped)[:, None]]
        targets = [-self.errors[indices] * weights * capped]
        for group in (g for g in groups.values() if len(g) > 1):
            weight = ORDER / math.sqrt(sizes[self.families[group[0]]]) / EACH
            deviations = self.errors[group] - self.errors[group].mean()
            caps = np.minimum(1, LARGEST / np.maximum(np.abs(deviations), 1e-9)) ** 0.5
            slopes = self.derivatives[group] - self.derivatives[group].mean(axis=0)
            rows.append(slopes * (weight * caps)[:, None])
            targets.append(-deviations * weight * caps)
        widths = np.array([math.log(width) for _, width in SUGGESTED.values()])
        away = np.array([math.log(value / self.figures[name]) for name, (value, _) in SUGGESTED.items()])
        return np.concatenate([*rows, np.diag(1 / widths)]), np.concatenate([*targets, away / widths])


def _bounds(name: str) -> tuple[float, float]:
    return BOUNDS.get(name, (1e-3, 1e6))


def parser() -> argparse.ArgumentParser:
    """Give the options of the command."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.clock.fit", description=__doc__)
    options.add_argument("--folder", type=Path, required=True, help="where fetched files, tasks, kernels, streams go")
    options.add_argument("--mirror", type=Path, help="a folder of bare git directories OWNER+NAME/repo, for no network")
    options.add_argument("--leave", action="append", default=[], metavar="FAMILY", choices=family_names())
    options.add_argument("--most", type=int, default=60, metavar="N", help="points of a family that are fitted")
    return options


def recorded_points(folder: Path, mirror: Path | None, names: Sequence[str]) -> list[Recorded]:
    """Fetch, build and record the points of these families; what cannot be is said and left out."""
    fetch_all(names, folder, mirror)
    streams = folder / "streams"
    streams.mkdir(parents=True, exist_ok=True)
    records = list[Recorded]()
    for point in points(folder, names):
        recorded = record(lab_of(point.device), point, streams)
        if isinstance(recorded, str):
            say(f"left out: {point.family} {point.label}: {recorded}")
        else:
            records.append(recorded)
    return records


def main(words: Sequence[str]) -> int:
    """Record, fit, and print the agreement of each family by figures that were fitted without it."""
    options = parser().parse_args(words)
    records = recorded_points(options.folder, options.mirror, family_names())
    cache = load_settings().cache_folder
    program, rng = executor(find_toolchain(cache / "toolchain"), cache / "kernels"), random.Random(1)
    names = [name for name in family_names() if name not in options.leave]
    drawn = [
        point for name in names for point in _drawn([k for k in records if k.point.family == name], options.most, rng)
    ]
    fit = Fit(drawn, program)
    _, linearised = fit.run(load_target("mi300x").clock)
    compared = list[Compared]()
    with sheet(options.folder / "left_out.tsv") as rows:
        for name in family_names():
            mine = [recorded for recorded in records if recorded.point.family == name]
            times = fit.predicted(linearised.solved(left_out=name), mine)
            for recorded, time_us in zip(mine, times, strict=True):
                compared.append(Compared(recorded.point, float(time_us), recorded.bound_us))
                rows.add(compared[-1])
    say("each family by figures that were fitted without it:")
    show(compared)
    return 0


def _drawn(records: Sequence[Recorded], most: int, rng: random.Random) -> Sequence[Recorded]:
    return rng.sample(records, most) if len(records) > most else records


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
