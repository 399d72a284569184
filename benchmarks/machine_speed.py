"""Processor time of verdicts and estimates of all tasks' seeds, beside another checkout of this project, in turns.

`python -m benchmarks.machine_speed --base DIR [--tasks NAME ...] [--seeds PART]`. DIR is a checkout of the commit to
compare with, whose packages this interpreter can import. Both compile each seed again; what they build once for all
kernels is built before. Times are of the asking process and all that it starts. Estimates are of the same source moved
down by a line. A task's ratio is that of the sums over its seeds; the last figures are geometric means over the tasks.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.settings import load_settings
from benchmarks.figure import Figure, report
from tasks.loader import task_names

ROOT = Path(__file__).parents[1]
GOAL_OF_ALL, GOAL_OF_ESTIMATE_S = "<= 0.7", "<= 0.25"
ANCHOR = "the other checkout"
# Runs in either checkout: task, part of the seeds' names, cache, folder of the compiler.
CHILD = """
import json, resource, sys
from pathlib import Path
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target
from tasks.loader import load_task

def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)

name, part, cache, compiler = sys.argv[1:]
Path(cache).mkdir(exist_ok=True)
evaluator = LabEvaluator(find_toolchain(Path(compiler)), Path(cache), load_target("mi300x"), seed=3)
evaluator.warm(lambda _: None)
task, rows = load_task(name, "mi300x"), {}
for seed in task.seeds:
    if part not in seed.name:
        continue
    text = seed.read_text(encoding="utf-8")
    judged, guessed = evaluator.prepare(text, task), evaluator.prepare(text.replace("#include", "\\n#include", 1), task)
    start = spent()
    accepted = evaluator.verify(judged).verdict.accepted
    verdict = spent()
    evaluator.estimate(guessed)
    rows[seed.name] = [verdict - start, spent() - verdict, accepted]
print(json.dumps(rows))
"""


@dataclass(frozen=True)
class Times:
    """Processor seconds of one seed's verdict and estimate."""

    verdict: float
    estimate: float
    is_accepted: bool


def times(checkout: Path, task: str, part: str, cache: Path) -> dict[str, Times]:
    """Judge and estimate the task's seeds in a process of the checkout: times by seed."""
    compiler = load_settings().cache_folder / "toolchain"
    argv = [sys.executable, "-c", CHILD, task, part, str(cache), str(compiler)]
    done = subprocess.run(argv, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{task} cannot be judged in {checkout}: {done.stderr.strip()[-300:]}")
    return {seed: Times(*row) for seed, row in json.loads(done.stdout.splitlines()[-1]).items()}


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


def figures(name: str, here: Mapping[str, Times], there: Mapping[str, Times]) -> tuple[Figure, Figure]:
    """A task's figures: seconds of all its seeds' verdicts, and of an estimate on average, in both checkouts."""
    verdicts, estimates = (
        [(here[seed].verdict, there[seed].verdict) for seed in here],
        [(here[seed].estimate, there[seed].estimate) for seed in here],
    )
    judged = [sum(pair[k] for pair in verdicts) for k in (0, 1)]
    guessed = [sum(pair[k] for pair in estimates) / len(estimates) for k in (0, 1)]
    return (
        Figure(f"machine_speed.verdict.{name}", judged[0], "s", ANCHOR, judged[1], f"<= {judged[1]:.6g}"),
        Figure(f"machine_speed.estimate.{name}", guessed[0], "s", ANCHOR, guessed[1], GOAL_OF_ESTIMATE_S),
    )


def main(words: Sequence[str]) -> int:
    """Measure task by task, the other checkout first, and report."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.machine_speed")
    options.add_argument("--base", type=Path, required=True, metavar="DIR")
    options.add_argument("--tasks", nargs="+", default=task_names(), metavar="NAME")
    options.add_argument("--seeds", default="", metavar="PART", help="seeds with this in their names only")
    wanted = options.parse_args(words)
    rows: list[tuple[Figure, Figure]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted.tasks:
            there = times(wanted.base, name, wanted.seeds, Path(folder) / "base")
            here = times(ROOT, name, wanted.seeds, Path(folder) / "here")
            print(name, {seed: (here[seed], there[seed]) for seed in here}, file=sys.stderr, flush=True)
            if here:
                rows.append(figures(name, here, there))
    means = [
        Figure(
            f"machine_speed.{what}", geometric_mean([row[k].ratio for row in rows]), "of it", ANCHOR, 1.0, GOAL_OF_ALL
        )
        for k, what in enumerate(("verdict", "estimate"))
    ]
    return report("Processor time of verdicts and estimates", [*(each for row in rows for each in row), *means])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
