"""The graph with the playbook against a hill climb and random search over the same kernels.

    python -m benchmarks.search [--seeds N] [--answers FILE] [TASK ...]

All begin with the task's seeds and may make the same changes: a move of the playbook, or another value of one tunable.
The climb estimates one neighbour of its kernel a step and moves there if that is no slower; where all neighbours are
known it jumps. Random search applies up to four changes at once to a seed. What is counted are kernels timed, each
once: estimates, and benchmarks of what was not estimated before. Each search gets `LIMIT` of them.

The target of a task is the kernel that the graph ends with. A rival's figure is the number of kernels it times until it
has one that is as fast, to 0.1 %; where it has none within the limit, the limit, which is too low.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")  # read once, when langgraph is imported

from agents.author import Assignment
from agents.playbook.changes import Changes
from agents.playbook.playbook import Playbook
from app.settings import load_settings
from benchmarks.figure import Figure, report
from benchmarks.folders import DATA
from benchmarks.search_tasks import TARGET, tasks
from graph import Context, Limits
from graph.doubles import ListedLiterature
from graph.drive import drive
from records.artefacts import ArtefactStore
from records.experiment import Run
from records.ledger import Ledger
from records.ranking import LEAST_GAIN
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.answers import Remembered
from sandbox.candidate.prepare import Prepared
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import Target, load_target
from tasks.task import Task

SEEDS, LIMIT = 5, 100
DEEP = 4  # changes at once of a random kernel
GRAPH, CLIMB, RANDOM = "graph", "hill climb", "random"
FILE = DATA / "search.json"
Curve = list[float]  # the best time after each kernel timed


class Spent(Exception):
    """The limit is reached, or a kernel as fast as the target was timed."""


@dataclass
class Prober:
    """Times kernels for a rival, each once, up to the limit."""

    work: Assignment
    sandbox: Remembered
    target_us: float = 0.0

    def time_us(self, prepared: Prepared) -> float:
        """Estimate a kernel's time; infinite where it is refused. Raises `Spent` in place of one too many."""
        if not self.is_known(prepared) and len(self.sandbox.timed) >= LIMIT:
            raise Spent
        evaluation = self.sandbox.estimate(prepared)
        time_us = (evaluation.geomean_us or math.inf) if evaluation.verdict.accepted else math.inf
        if time_us < self.target_us * (1 + LEAST_GAIN):
            raise Spent
        return time_us

    def is_known(self, prepared: Prepared) -> bool:
        """Tell whether a kernel was timed in this search."""
        return self.sandbox.kernel(prepared) in self.sandbox.timed

    def seeds(self) -> list[Prepared]:
        """List the task's own kernels at their defaults."""
        return [self.sandbox.prepare(path.read_text(encoding="utf-8"), self.work.task) for path in self.work.task.seeds]

    def neighbours(self, prepared: Prepared) -> list[Prepared]:
        """List the kernels one change away: another value of a tunable, or a move."""
        tunables = dict(prepared.tunables)
        beside = [c for c in prepared.choices if sum(c[n] != v for n, v in tunables.items()) == 1]
        changes = Changes(self.work)
        texts = [changes.apply(prepared.source, handle) for handle in changes.offers(prepared.source)]
        moved = [self.sandbox.prepare(text, self.work.task) for text in texts]
        moved_at_tunables = [m.choose({n: v for n, v in tunables.items() if n in m.tunables}) for m in moved]
        return [*(prepared.choose(c) for c in beside), *moved_at_tunables]


def climb(prober: Prober, draw: random.Random) -> None:
    """Climb from the best seed: a random neighbour a step, kept where it is no slower; a jump where none is left."""
    current = min(prober.seeds(), key=prober.time_us)
    while True:
        unknown = [n for n in prober.neighbours(current) if not prober.is_known(n)]
        if not unknown:
            current = shaken(prober, draw)
            continue
        neighbour = draw.choice(unknown)
        if prober.time_us(neighbour) <= prober.time_us(current):
            current = neighbour


def random_search(prober: Prober, draw: random.Random) -> None:
    """Change seeds by a random number of random changes."""
    for seed in prober.seeds():
        prober.time_us(seed)
    while True:
        shaken(prober, draw)


def shaken(prober: Prober, draw: random.Random) -> Prepared:
    """Draw a seed at random tunables with up to `DEEP` random moves, and time it."""
    for _ in range(100):
        kernel = draw.choice(prober.seeds())
        if len(kernel.choices) > 1:
            kernel = kernel.choose(draw.choice(kernel.choices))
        for _ in range(draw.randrange(DEEP + 1)):
            around = prober.neighbours(kernel)
            kernel = draw.choice(around) if around else kernel
        if not prober.is_known(kernel):
            prober.time_us(kernel)
            return kernel
    raise Spent


def rival(search: Callable[[Prober, random.Random], None], prober: Prober, seed: int) -> Curve:
    """Run one search and return its curve."""
    prober.sandbox.forget_order()
    with contextlib.suppress(Spent):
        search(prober, random.Random(seed))
    return curve(prober.sandbox)


def curve(sandbox: Remembered) -> Curve:
    """Return the best time so far after each kernel that was timed."""
    best, best_so_far = math.inf, []
    for evaluation in sandbox.timed.values():
        best = min(best, (evaluation.geomean_us or math.inf) if evaluation.verdict.accepted else math.inf)
        best_so_far.append(best)
    return best_so_far


def needed(curve: Curve, target_us: float) -> int | None:
    """Count the kernels timed until one is as fast as the target."""
    return next((n for n, t in enumerate(curve, 1) if t < target_us * (1 + LEAST_GAIN)), None)


def assignment(task: Task, seed: int) -> Assignment:
    """Give the task as an author and the book of changes get it."""
    gpu = target()
    return Assignment(task, gpu.brief.strip(), gpu.name, gpu.arch, seed)


def graph_run(work: Assignment, sandbox: Remembered, folder: Path) -> tuple[Curve, float]:
    """Run the graph with the playbook as `kernel-scientist run` makes it: its curve and its verified best."""
    sandbox.forget_order()
    ledger = Ledger(folder / "ledger.db")
    run = Run("search", work.task.name, TARGET, "lab", "playbook", seed=work.seed)
    context = Context(
        run=run,
        assignment=work,
        author=Playbook(work.seed, explores=True),
        sandbox=sandbox,
        literature=ListedLiterature(),
        ledger=ledger,
        artefacts=ArtefactStore(folder / "artefacts", ledger),
        limits=Limits(dispatch=False),  # the rivals end with one kernel, too
        changes=Changes(work),
    )
    drive(context, folder / "checkpoint.db", max_concurrency=1)
    times = [a.geomean_us for a in ledger.attempts(run.id) if a.status == "accepted" and a.geomean_us]
    ledger.close()
    return curve(sandbox), min(times)


def measured(task: Task, sandbox: Remembered, seeds: int) -> dict[str, object]:
    """Measure the three searches on one task. A rival looks for the slowest kernel that a graph's run ended with."""
    works = [assignment(task, seed) for seed in range(seeds)]
    runs = []
    for work in works:
        with tempfile.TemporaryDirectory() as folder:
            runs.append(graph_run(work, sandbox, Path(folder)))
    target = max(best for _, best in runs)
    curves_by_search = {GRAPH: [curve for curve, _ in runs]}
    for name, search in ((CLIMB, climb), (RANDOM, random_search)):
        curves_by_search[name] = [rival(search, Prober(work, sandbox, target), work.seed) for work in works]
    return {
        "target_us": target,
        "whole_run": statistics.fmean(len(curve) for curve in curves_by_search[GRAPH]),
        "needed": {name: [needed(curve, target) for curve in curves] for name, curves in curves_by_search.items()},
        "best_us": {name: [round(curve[-1], 3) for curve in curves] for name, curves in curves_by_search.items()},
        "curves": {
            name: [[round(t, 3) for t in curve] for curve in curves] for name, curves in curves_by_search.items()
        },
    }


def charged(row: Sequence[int | None]) -> float:
    """Average over the seeds; one that did not get there is charged the limit."""
    return statistics.fmean(LIMIT if n is None else n for n in row)


def figures(rows: Mapping[str, Mapping[str, Any]]) -> list[Figure]:
    """Compare the graph with each rival for each task; the goal is fewer kernels timed."""
    figure_rows = []
    for name, row in rows.items():
        mine = charged(row["needed"][GRAPH])
        for other in (CLIMB, RANDOM):
            theirs = charged(row["needed"][other])
            label = f"search.{name}.{other.replace(' ', '_')}"
            figure_rows.append(Figure(label, mine, "kernels timed", other, theirs, f"< {theirs:.4g}"))
    return figure_rows


def main(words: Sequence[str] | None = None) -> int:
    """Measure the tasks named, store the curves, report all that are stored."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    options.add_argument("tasks", nargs="*", metavar="TASK", help="those named; all when not given")
    options.add_argument("--seeds", type=int, default=SEEDS)
    options.add_argument("--answers", default=":memory:", metavar="FILE", help="where the lab's answers are kept")
    options.add_argument("--stored", action="store_true", help="measure nothing, report what is stored")
    chosen = options.parse_args(words)
    settings, known_tasks = load_settings(), tasks()
    for name in () if chosen.stored else chosen.tasks or list(known_tasks):
        lab = LabEvaluator(find_toolchain(settings.cache_folder / "toolchain"), settings.cache_folder, target(), seed=0)
        row = measured(known_tasks[name], Remembered(lab, chosen.answers), chosen.seeds)
        print(f"{name}: {row['target_us']:.4g} us, {row['needed']}", flush=True)
        stored = stored_rows() | {name: row}
        FILE.write_text(json.dumps(stored, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")
    return report("Kernels timed until one is as fast as the graph's", figures(stored_rows()))


def stored_rows() -> dict[str, Any]:
    """Read the stored rows, by task."""
    rows: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return rows


def target() -> Target:
    """Return the GPU of all tasks."""
    return load_target(TARGET)


if __name__ == "__main__":
    sys.exit(main())
