"""What beliefs are worth: evaluations and tokens until 95 % of the best speed, beside other ways to choose experiments.

    python -m benchmarks.beliefs [--campaigns N]

Six tasks with hypotheses of known worth (`simulated_author.py`), the whole graph on a table, N campaigns a task and
way. The paper's loop picks from a fresh plan alone; OpenEvolve's changes one of the fastest kernels blindly. A campaign
that does not get there is charged all that it was allowed.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.figure import Figure, report
from benchmarks.simulated_author import SimulatedAuthor, World
from graph import Limits
from graph.doubles import table_context, table_task
from graph.drive import drive

TASKS, GENERATIONS, NEAR = 6, 20, 0.95
ALLOWED = 3 * GENERATIONS  # kernels
PLAN_TOKENS, WRITE_TOKENS = 11_000, 20_000  # of one plan and one kernel, as in the campaigns of `h200_author`
RESAMPLES = 2000  # of the bootstrap


@dataclass(frozen=True)
class Way:
    """One way to choose experiments."""

    limits: Limits
    plans: bool = True
    keeps: bool = True


COMMON = Limits(
    generations=GENERATIONS, stagnation=GENERATIONS, roofline_fraction=NEAR, attainable_fraction=0.0, compile_repairs=0
)
WAYS: Mapping[str, Way] = {
    "beliefs": Way(COMMON),
    "backlog": Way(replace(COMMON, beliefs=0)),
    "paper": Way(replace(COMMON, beliefs=0), keeps=False),
    "bandit": Way(replace(COMMON, beliefs=0, bandit=1)),
    "openevolve": Way(replace(COMMON, beliefs=0, inspiration=1, picks=1, generations=ALLOWED), False, False),
}


@dataclass(frozen=True)
class Outcome:
    """A campaign's cost."""

    evaluations: int
    tokens: int
    got_there: bool


def campaign(way: Way, task_number: int, seed: int) -> Outcome:
    """Run one campaign until it is near the best, or over."""
    world = World(task_number)
    author = SimulatedAuthor(world, seed, way.plans, way.keeps)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task = table_task(folder / "task", world.source(()))
        context = table_context(folder, task, author, way.limits)
        drive(context, folder / "checkpoint.db", lambda event: None)
        attempts = [a for a in context.ledger.attempts(context.run.id) if a.generation]
    fastest = min((a.geomean_us for a in attempts if a.geomean_us), default=math.inf)
    got_there = fastest <= world.best_us / NEAR
    plans, kernels = (author.planned, len(attempts)) if got_there else (way.plans * GENERATIONS, ALLOWED)
    return Outcome(kernels, PLAN_TOKENS * plans + WRITE_TOKENS * kernels, got_there)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Compute a 95 % interval of the mean by bootstrap."""
    rng = random.Random(1)
    means = sorted(statistics.mean(rng.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[RESAMPLES // 40], means[-RESAMPLES // 40]


def figures_of(name: str, outcomes: Sequence[Outcome], others: Sequence[Outcome]) -> list[Figure]:
    """Put a way's mean costs beside those of the backlog."""
    low, high = interval([o.evaluations for o in outcomes])
    got_there = f"{sum(o.got_there for o in outcomes)} of {len(outcomes)} got there, {low:.1f} to {high:.1f}"
    pairs = (("evaluations", "", "evaluations"), ("tokens", "tokens", "tokens"))
    return [
        Figure(
            f"beliefs.{name}.{figure}",
            statistics.mean(getattr(o, field) for o in outcomes),
            unit,
            f"the backlog; {got_there}" if figure == "evaluations" else "the backlog",
            statistics.mean(getattr(o, field) for o in others),
        )
        for figure, unit, field in pairs
    ]


def main() -> int:
    """Run every way over the same tasks and seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=4, help="a task and way")
    campaigns: int = parser.parse_args().campaigns
    places = [(task, seed) for task in range(TASKS) for seed in range(campaigns)]
    outcomes = {name: [campaign(way, *place) for place in places] for name, way in WAYS.items()}
    return report(
        "Ways to choose experiments, until 95 % of the best speed",
        [figure for name in WAYS for figure in figures_of(name, outcomes[name], outcomes["backlog"])],
    )


if __name__ == "__main__":
    raise SystemExit(main())
