"""Processor time of verdicts and estimates by the machine and by the native lab, in turns, for the seeds of all tasks.

`python -m benchmarks.machine_speed [--tasks NAME ...] [--seeds PART] [--most SECONDS]`. Both labs compile each seed
anew; what they build once for all kernels is built before. Estimates are of the same source moved down by a line. The
anchor of each figure is the native lab's time in the same run. A task's ratio is that of the sums over its seeds; the
last figures are geometric means over the tasks. Seeds that the native lab judges in more than `--most` seconds are
left out and named.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.settings import load_settings
from benchmarks.estimate_cost import timed
from benchmarks.figure import Figure, report
from sandbox.amdgcn.toolchain import Toolchain, find_toolchain
from sandbox.lab.lab import Lab
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task, task_names
from tasks.task import Task

TARGET = "mi300x"
GOAL_OF_ALL, GOAL_OF_EACH = "<= 0.7", "<= 1.0"
ANCHOR = "the native lab"


@dataclass(frozen=True)
class Times:
    """Processor seconds of one seed, by the machine and by the native lab."""

    seed: str
    verdict: tuple[float, float]
    estimate: tuple[float, float]


def ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """The machine's time over the native lab's, of sums."""
    return sum(machine for machine, _ in pairs) / sum(native for _, native in pairs)


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


def evaluators(toolchain: Toolchain, folder: Path) -> tuple[LabEvaluator, LabEvaluator]:
    """The machine's and the native lab's, each with a cache of its own that holds what every program needs."""
    target = load_target(TARGET)
    made: list[LabEvaluator] = []
    kinds: tuple[tuple[type[Lab], str], ...] = ((MachineLab, "machine"), (Lab, "native"))
    for lab, name in kinds:
        made.append(LabEvaluator(toolchain, folder / name, target, seed=3, lab=lab))
        made[-1].warm(lambda _: None)
    return made[0], made[1]


def times_of(pair: tuple[LabEvaluator, LabEvaluator], task: Task, seed: Path, most_s: float) -> Times | None:
    """Judge and estimate one seed by both, the native lab first; None where that took too long."""
    text = seed.read_text(encoding="utf-8")
    moved = text.replace("#include", "\n#include", 1)
    verdict: dict[int, float] = {}
    estimate: dict[int, float] = {}
    for number in (1, 0):
        evaluator = pair[number]
        verdict[number], _ = timed(partial(lambda e: e.verify(e.prepare(text, task)), evaluator))
        if verdict[number] > most_s and number:
            return None
        estimate[number], _ = timed(partial(lambda e: e.estimate(e.prepare(moved, task)), evaluator))
    return Times(seed.name, (verdict[0], verdict[1]), (estimate[0], estimate[1]))


def figures_of(task: str, rows: Sequence[Times]) -> list[Figure]:
    """The figures of one task: sums over its seeds."""
    verdicts, estimates = [row.verdict for row in rows], [row.estimate for row in rows]
    return [
        Figure(f"machine_speed.{what}.{task}", ratio(pairs), "of it", ANCHOR, 1.0, GOAL_OF_EACH)
        for what, pairs in (("verdict", verdicts), ("estimate", estimates))
    ]


def main(words: Sequence[str]) -> int:
    """Measure, tell each seed's times as they come, and report."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.machine_speed")
    options.add_argument("--tasks", nargs="+", default=tuple(task_names()), metavar="NAME")
    options.add_argument("--seeds", default="", metavar="PART", help="seeds with this in their names only")
    options.add_argument("--most", type=float, default=math.inf, metavar="SECONDS")
    wanted = options.parse_args(words)
    toolchain = find_toolchain(load_settings().cache_folder / "toolchain")
    figures: list[Figure] = []
    ratios: dict[str, list[float]] = {"verdict": [], "estimate": []}
    with tempfile.TemporaryDirectory() as folder:
        pair = evaluators(toolchain, Path(folder))
        for name in wanted.tasks:
            task = load_task(name, TARGET)
            rows: list[Times] = []
            for seed in (path for path in task.seeds if wanted.seeds in path.name):
                row = times_of(pair, task, seed, wanted.most)
                print(name, row or f"{seed.name}: more than {wanted.most:g} s", file=sys.stderr, flush=True)
                rows += [row] if row else []
            if not rows:
                continue
            figures += figures_of(name, rows)
            ratios["verdict"].append(ratio([row.verdict for row in rows]))
            ratios["estimate"].append(ratio([row.estimate for row in rows]))
    figures += [
        Figure(f"machine_speed.{what}", geometric_mean(values), "of it", ANCHOR, 1.0, GOAL_OF_ALL)
        for what, values in ratios.items()
        if values
    ]
    return report("Processor time by the machine over that by the native lab", figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
