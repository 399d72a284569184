"""Fit the figures of `[clock]` to measured points: `python -m benchmarks.clock.fit --help`.

Coordinate descent over the figures, each within limits that hardware sets, by steps that shrink. The loss is the mean
absolute logarithm of predicted over measured, each family with the same weight, and what the order of kernels of the
same work lacks. With `--leave FAMILY` that family is told apart: it is not fitted, and its error is printed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from app.screen import say
from app.settings import load_settings
from benchmarks.clock.__main__ import fetch_all, lab_of
from benchmarks.clock.compared import Compared, show
from benchmarks.clock.points import family_names, points
from benchmarks.clock.recorded import Recorded, record
from benchmarks.clock.statistics import spearman
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.machine.executor import executor
from sandbox.target import load_target

# Figure: least, most, first step. Latencies by public microbenchmarks; a wave issues at most each fourth clock.
LIMITS: Mapping[str, tuple[float, float, float]] = {
    "launch_us": (1.5, 5, 1.15), "next_launch_us": (0.3, 4, 1.3), "issue": (4, 5.2, 1.25),
    "matrix_issue": (4, 8, 1.4), "scalar_issue": (4, 8, 1.3), "lds_issue": (4, 8, 1.3), "memory_issue": (4, 8, 1.3),
    "vector_latency": (4, 10, 1.5), "matrix_latency": (4, 20, 1.6), "scalar_latency": (120, 400, 1.3),
    "branch": (8, 40, 1.6), "barrier": (8, 80, 1.6), "lds_latency": (56, 160, 1.3), "lds_queue": (16, 512, 1.6),
    "address_queue": (32, 512, 1.6), "l1_latency": (80, 200, 1.3), "l2_latency": (180, 500, 1.3),
    "mall_latency": (400, 1000, 1.3), "hbm_latency": (600, 1100, 1.3), "unit_l2": (24, 64, 1.4),
    "unit_mall": (12, 64, 1.4), "unit_hbm": (8, 64, 1.4), "l2_share": (0.12, 0.9, 1.3),
    "mall_share": (0.4, 0.9, 1.3), "hbm_share": (0.6, 0.9, 1.1), "burst": (1, 20000, 1.8),
    "partial_write": (1, 4, 1.4), "start": (50, 1500, 1.6), "dispatch": (1, 60, 1.6),
    "matrix_clock": (0.65, 1, 1.1), "atomic_clocks": (1, 100, 1.6),
}  # fmt: skip
LARGEST = 0.8  # of the logarithm that one point adds: what the model does not know must not rule it
ORDER = 0.3  # weight of the order beside the error
FEWEST, SPREAD = 5, 1.3  # points of the same work, and the ratio of their times, from which on their order counts
ROUNDS = 4


@dataclass
class Fit:
    """A search for the figures that suit some recorded points."""

    points: Sequence[Recorded]
    program: Path
    changed: dict[str, float] = field(default_factory=dict)
    workers: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))

    def predicted(self, changed: Mapping[str, float]) -> list[float]:
        """Give the time of each point by a clock with these figures."""
        with ThreadPoolExecutor(self.workers) as pool:
            told = list(pool.map(lambda one: one.retimed(self.program, changed), self.points))
        return [one.predicted_us(expected) for one, expected in zip(self.points, told, strict=True)]

    def loss(self, changed: Mapping[str, float]) -> float:
        """Give the error and what the order lacks, each family with the same weight."""
        families: dict[str, list[float]] = {}
        same_work: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for one, time_us in zip(self.points, self.predicted(changed), strict=True):
            point = one.point
            error = abs(math.log(max(time_us, 1e-3) / point.measured_us))
            families.setdefault(point.family, []).append(min(error, LARGEST))
            same_work.setdefault((point.family, str(point.dims)), []).append((time_us, point.measured_us))
        errors = [sum(each) / len(each) for each in families.values()]
        ranked = [1 - spearman(*zip(*pairs, strict=True)) for pairs in same_work.values() if _is_ranked(pairs)]
        order = [value for value in ranked if not math.isnan(value)]
        return sum(errors) / len(errors) + ORDER * sum(order) / max(1, len(order))

    def run(self) -> dict[str, float]:
        """Search, and give the figures that were changed."""
        table = dict(load_target("mi300x").clock)
        steps, best = {name: limits[2] for name, limits in LIMITS.items()}, self.loss(self.changed)
        say(f"{len(self.points)} points: loss {best:.4f} before")
        for number in range(ROUNDS):
            for name, (least, most, _) in LIMITS.items():
                found, best = self._along(name, table[name], (least, most), steps[name], best)
                if not found:
                    steps[name] **= 0.5
            figures = ", ".join(f"{name} {value:.4g}" for name, value in sorted(self.changed.items()))
            say(f"round {number + 1}: loss {best:.4f}; {figures}")
        return self.changed

    def _along(
        self, name: str, begin: float, limits: tuple[float, float], step: float, best: float
    ) -> tuple[bool, float]:
        for factor in (step, 1 / step):
            value, is_better = self.changed.get(name, begin), False
            while limits[0] <= (value := value * factor) <= limits[1]:
                loss = self.loss({**self.changed, name: value})
                if loss >= best - 1e-5:
                    break
                best, is_better = loss, True
                self.changed[name] = value
            if is_better:
                return True, best
        return False, best


def _is_ranked(pairs: Sequence[tuple[float, float]]) -> bool:
    measured = [m for _, m in pairs]
    return len(pairs) >= FEWEST and max(measured) > SPREAD * min(measured)


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
    found = []
    for point in points(folder, names):
        kept = record(lab_of(point.device), point, streams)
        if isinstance(kept, str):
            say(f"left out: {point.family} {point.label}: {kept}")
        else:
            found.append(kept)
    return found


def main(words: Sequence[str]) -> int:
    """Record, fit, and print the agreement of what was fitted and of what was left out."""
    wanted = parser().parse_args(words)
    kept = recorded_points(wanted.folder, wanted.mirror, family_names())
    cache = load_settings().cache_folder
    program, rng = executor(find_toolchain(cache / "toolchain"), cache / "kernels"), random.Random(1)
    fitted = [
        one
        for name in family_names()
        if name not in wanted.leave
        for one in _drawn([k for k in kept if k.point.family == name], wanted.most, rng)
    ]
    changed = Fit(fitted, program).run()
    times = Fit(kept, program).predicted(changed)
    show([Compared(one.point, time_us, one.bound_us) for one, time_us in zip(kept, times, strict=True)])
    return 0


def _drawn(kept: Sequence[Recorded], most: int, rng: random.Random) -> Sequence[Recorded]:
    return rng.sample(kept, most) if len(kept) > most else kept


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
