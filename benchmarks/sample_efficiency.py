"""Estimates that a tuner needs until it has 95 % of the best speed, over spaces of which every point is known.

    python -m benchmarks.sample_efficiency [--rivals PYTHON]

Our tuner, random search and a hill climb run here. The strategies of Kernel Tuner and Optuna's TPE run in PYTHON, an
interpreter that has both (`pip install kernel_tuner optuna`); without one, their last stored figures are read from
data/sample_efficiency.json, where all curves are. A run that has not got there at the limit is charged the limit and
what a random search of the rest needs. Four spaces were kept away from the tuner until its constants were set.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.figure import Figure, report
from benchmarks.folders import DATA
from benchmarks.spaces import Space, stored_spaces
from sandbox.candidate.quantities import computed
from sandbox.candidate.search import Choice, Search, Timing

SEEDS, LIMIT = 50, 100
BUDGET = 24  # estimates that a run of the graph gives a kernel
UNSEEN = frozenset({"gemm_f16", "gemm_rtx3090", "convolution_mi250x", "convolution_a100"})
FILE = DATA / "sample_efficiency.json"
SCRIPT = Path(__file__).parent / "rival_tuners.py"
OURS, RANDOM, CLIMB = "ours", "random", "hill climb"
Orders = Mapping[str, Sequence[Sequence[int]]]  # for each tuner the points that each seed asked for, in order
ANCHORS = (RANDOM, "the best of the others")


class Found(Exception):
    """A point with 95 % of the best speed was asked for."""


class Table:
    """A space that answers with its stored times, and the order in which it was asked."""

    def __init__(self, space: Space, until_good: bool) -> None:
        """Set up calls that raise `Found` behind the first good point where that is all that is asked."""
        self.space, self.order, self._until_good = space, list[int](), until_good
        self._places = {point: index for index, point in enumerate(space.points)}

    def __call__(self, choice: Choice) -> Timing:
        """Return the stored time of a choice."""
        index = self._places[tuple(choice[name] for name in self.space.names)]
        self.order.append(index)
        if self._until_good and index in self.space.good:
            raise Found
        return Timing(self.space.times_us[index])


def ours(space: Space, seed: int, limit: int = LIMIT, until_good: bool = True) -> list[int]:
    """List the points that our tuner asks for, up to the first good one or, as in a graph's run, until it is sure."""
    table, more = Table(space, until_good), computed(space.expressions, space.choices, space.dims)
    with contextlib.suppress(Found):
        Search(space.choices, table, limit, seed, quantities=more, is_thorough=until_good).run()
    return table.order


def climb(space: Space, seed: int) -> list[int]:
    """Climb a hill from the default: neighbours in random order, the first that is faster; random where none is."""
    draw, order, left = random.Random(seed), [0], set(range(1, len(space.points)))
    current = 0
    while left and len(order) < LIMIT:
        beside = [
            i for i in left if sum(a != b for a, b in zip(space.points[i], space.points[current], strict=True)) == 1
        ]
        candidate = draw.choice(sorted(beside or left))
        left.discard(candidate)
        order.append(candidate)
        if not beside or _time(space, candidate) < _time(space, current):
            current = candidate
    return order


def _time(space: Space, index: int) -> float:
    return space.times_us[index] or math.inf


def rivals(space: Space, python: str) -> Orders:
    """List the points that the other tuners ask for."""
    values = {"names": space.names, "points": space.points, "times_us": space.times_us}
    argv = [python, str(SCRIPT), str(LIMIT), *map(str, range(SEEDS))]
    process = subprocess.run(argv, input=json.dumps(values), capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(f"the other tuners ended with {process.returncode}: {process.stderr.strip()[-500:]}")
    orders: Orders = json.loads(process.stdout)
    return orders


def needed(space: Space, order: Sequence[int]) -> float:
    """Count the estimates until the first good point; one that is not there yet goes on by chance."""
    count = next((n for n, index in enumerate(order, 1) if index in space.good), None)
    return count or len(order) + by_chance(space, len(order))


def by_chance(space: Space, estimates: int = 0) -> float:
    """Count the estimates that a random search needs on average, after so many that were not good."""
    return (len(space.points) - estimates + 1) / (len(space.good) + 1)


def curve(space: Space, orders: Sequence[Sequence[int]]) -> list[float]:
    """Compute the mean share of the best speed after each estimate, over the seeds."""
    rows = []
    for order in orders:
        best, row = math.inf, []
        for n in range(LIMIT):
            best = min(best, _time(space, order[n])) if n < len(order) else best
            row.append(space.best_us / best)
        rows.append(row)
    return [round(statistics.fmean(column), 4) for column in zip(*rows, strict=True)]


def measured(space: Space, python: str, stored: Mapping[str, object]) -> dict[str, object]:
    """Measure all tuners on one space: estimates to 95 %, curves, and where ours stops by itself."""
    random_orders = [
        random.Random(seed).sample(range(len(space.points)), min(LIMIT, len(space.points))) for seed in range(SEEDS)
    ]
    own_orders: dict[str, Sequence[Sequence[int]]] = {
        OURS: [ours(space, seed) for seed in range(SEEDS)],
        CLIMB: [climb(space, seed) for seed in range(SEEDS)],
        RANDOM: random_orders,
    }
    rival_orders = rivals(space, python) if python else {}
    orders = {**own_orders, **rival_orders}
    means = {name: statistics.fmean(needed(space, order) for order in rows) for name, rows in orders.items()}
    means[RANDOM] = by_chance(space)
    curves = {name: curve(space, rows) for name, rows in orders.items()}
    seeds = {name: len(rows) for name, rows in orders.items()}
    if not python and stored:
        seeds = {**dict(stored["seeds"]), **seeds}  # type: ignore[call-overload]
        means = {**dict(stored["needed"]), **means}  # type: ignore[call-overload]
        curves = {**dict(stored["curves"]), **curves}  # type: ignore[call-overload]
    alone = [ours(space, seed, BUDGET, until_good=False) for seed in range(SEEDS // 5)]
    shares = [space.best_us / min(_time(space, index) for index in order) for order in alone]
    return {
        "points": len(space.points),
        "good": len(space.good),
        "source": space.source,
        "unseen": space.name in UNSEEN,
        "seeds": seeds,
        "needed": {name: round(mean, 2) for name, mean in sorted(means.items(), key=lambda pair: pair[1])},
        "stops_at": statistics.fmean(map(len, alone)),
        "share_at_stop": round(statistics.fmean(shares), 4),
        "curves": curves,
    }


def figures(name: str, means: Sequence[Mapping[str, float]]) -> list[Figure]:
    """Compare ours with random search and with the best of the others, in geometric means over spaces."""
    mine = statistics.geometric_mean(row[OURS] for row in means)
    other_tuners = sorted({tuner for row in means for tuner in row} - {OURS, RANDOM, CLIMB})
    rows = []
    for tuner in (RANDOM, CLIMB, *other_tuners):
        theirs = statistics.geometric_mean(row[tuner] for row in means)
        goal = f"<= {theirs / 4:.4g}" if tuner == RANDOM else ""
        rows.append((theirs, tuner, goal))
    rows.sort(key=lambda row: row[0])
    best = next((row for row in rows if row[1] in other_tuners), None)
    return [
        Figure(
            f"sample_efficiency.{name}.{tuner.replace(' ', '_')}",
            mine,
            "estimates",
            tuner,
            theirs,
            f"<= {theirs / 2:.4g}" if best is not None and tuner == best[1] else goal,
        )
        for theirs, tuner, goal in rows
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, store the curves, and report by space and over all."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.sample_efficiency", description=__doc__)
    options.add_argument("--rivals", default="", metavar="PYTHON", help="an interpreter with kernel_tuner and optuna")
    python = options.parse_args(arguments).rivals
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    spaces = dict(stored.get("spaces", {}))  # of spaces that are not here the figures stay as they are
    for space in stored_spaces():
        spaces[space.name] = measured(space, python, stored.get("spaces", {}).get(space.name, {}))
        summary = spaces[space.name]
        print(
            f"{space.name}: {summary['points']} points, {summary['good']} good, needed {summary['needed']}", flush=True
        )
        print(f"  with {BUDGET} it stops at {summary['stops_at']:.1f} with {summary['share_at_stop']} of the speed")
    FILE.write_text(json.dumps({"spaces": spaces}, separators=(",", ":")) + "\n", encoding="utf-8")
    rows = {name: dict(summary["needed"]) for name, summary in spaces.items()}
    familiar = [row for name, row in rows.items() if name not in UNSEEN]
    unseen = [row for name, row in rows.items() if name in UNSEEN]
    rows_of_figures = [*figures("all", list(rows.values())), *figures("seen", familiar), *figures("unseen", unseen)]
    rows_of_figures += [figure for name, row in rows.items() for figure in figures(name, [row])[:1]]
    return report("Estimates to 95 % of the best speed", rows_of_figures)


if __name__ == "__main__":
    sys.exit(main())
