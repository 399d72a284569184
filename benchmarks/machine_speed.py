"""Processor time of verdicts, estimates and whole executions of tasks' seeds, beside another checkout, in turns.

`python -m benchmarks.machine_speed --base DIR [--tasks NAME ...] [--seeds PART] [--store FILE]`. DIR is a checkout of
the commit to compare with, whose packages this interpreter can import. Times are of the asking process and all that it
starts. What either keeps between candidates (the interpreter, precompiled headers, inputs, references) is there: a
kernel that differs from the task's first seed by an unused function is judged before. Estimates are of the same source
moved down by a line. A task's ratio is that of the sums over its seeds; the last figures are geometric means and the
worst. Of the matrix products, workgroups of each benchmark case are executed without checks as well, evenly spread,
and their time times the grid is that of the whole case. Rows are kept in FILE, and tasks that it has are not measured
again.
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
from tasks.loader import load_task, task_names

ROOT = Path(__file__).parents[1]
GOAL_OF_ALL, GOAL_OF_EACH, GOAL_OF_ESTIMATE_S, GOAL_OF_WHOLE = "<= 0.7", "<= 1", "<= 0.25", "<= 0.5"
ANCHOR = "the other checkout"
PRODUCTS = ("bf16_gemm", "fp8_block_gemm", "int4_gemm")
SAMPLED = 192  # workgroups of a benchmark case, in each of which a product does the same
# Runs in either checkout: task, part of the seeds' names, cache, folder of the compiler, workgroups.
CHILD = """
import itertools, json, resource, sys
from pathlib import Path
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.lab import ExecutionRequest
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import written_buffers
from sandbox.target import load_target
from tasks.loader import load_task

def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)

def whole(prepared):
    built = evaluator._plain(evaluator.stages(prepared).program().built)
    seconds = 0.0
    for case in task.benchmarks if sampled else ():
        plan, inputs = prepared.plan(case), evaluator._inputs_of(task).of(case)
        buffers = (*inputs.buffers, *written_buffers(task, case, plan))
        request = ExecutionRequest(built.program, plan, buffers, 600.0, blocks=sampled, masks=False)
        done = evaluator._lab.execute(request)
        assert not done.findings, done.findings
        seconds += sum(done.launch_cpu_s) / done.executed
    return seconds

name, part, cache, compiler, sampled = *sys.argv[1:5], int(sys.argv[5])
Path(cache).mkdir(exist_ok=True)
evaluator = LabEvaluator(find_toolchain(Path(compiler)), Path(cache), load_target("mi300x"), seed=3)
evaluator.warm(lambda _: None)
task, rows = load_task(name, "mi300x"), {}
unused = '\\nextern "C" __global__ void unused(int* p) { *p = 1; }\\n'
before = evaluator.prepare(task.seeds[0].read_text(encoding="utf-8").rstrip() + unused, task)
assert evaluator.verify(before).verdict.accepted and evaluator.estimate(before).verdict.accepted
families = evaluator._inputs_of(task).listed.families
for family, spec in itertools.product(families.names, task.outputs):
    families.tolerance(spec, family)  # what it rests on is measured once and kept
for seed in task.seeds:
    if part not in seed.name:
        continue
    text = seed.read_text(encoding="utf-8")
    judged, guessed = evaluator.prepare(text, task), evaluator.prepare(text.replace("#include", "\\n#include", 1), task)
    start = spent()
    accepted = evaluator.verify(judged).verdict.accepted
    verdict = spent()
    accepted = evaluator.estimate(guessed).verdict.accepted and accepted
    estimate = spent()
    rows[seed.name] = [verdict - start, estimate - verdict, whole(judged), accepted]
print(json.dumps(rows))
"""


@dataclass(frozen=True)
class Times:
    """Processor seconds of one seed's verdict, its estimate and all of its benchmark cases."""

    verdict: float
    estimate: float
    whole: float
    is_accepted: bool


def times(checkout: Path, task: str, part: str, cache: Path) -> dict[str, Times]:
    """Judge and estimate the task's seeds in a process of the checkout: times by seed."""
    compiler = load_settings().cache_folder / "toolchain"
    sampled = SAMPLED if task in PRODUCTS else 0
    argv = [sys.executable, "-c", CHILD, task, part, str(cache), str(compiler), str(sampled)]
    process = subprocess.run(argv, cwd=checkout, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        sys.exit(f"{task} cannot be judged in {checkout}: {process.stderr.strip()[-300:]}")
    return {seed: Times(*row) for seed, row in json.loads(process.stdout.splitlines()[-1]).items()}


def geometric_mean(values: Sequence[float]) -> float:
    """Compute the geometric mean of positive numbers."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


def figures(name: str, ours: Mapping[str, Times], theirs: Mapping[str, Times]) -> list[Figure]:
    """Give a task's figures: seconds of all its seeds' verdicts, of an average estimate, of whole executions if any."""

    def figure(field: str, goal: str, share: float = 1.0) -> Figure:
        value, other = (share * sum(getattr(rows[seed], field) for seed in ours) for rows in (ours, theirs))
        kind, bound = goal.split()
        limit = goal if field == "estimate" else f"{kind} {float(bound) * other:.6g}"
        return Figure(f"machine_speed.{field}.{name}", value, "s", ANCHOR, other, limit)

    rows = [figure("verdict", GOAL_OF_EACH), figure("estimate", GOAL_OF_ESTIMATE_S, 1 / len(ours))]
    return [*rows, figure("whole", GOAL_OF_WHOLE)] if any(times.whole for times in ours.values()) else rows


def means(rows: Sequence[Figure]) -> list[Figure]:
    """Give the geometric mean and worst of the ratios of each kind of figure."""
    rows_of_means = list[Figure]()
    for field, goal in (("verdict", GOAL_OF_ALL), ("estimate", GOAL_OF_ALL), ("whole", GOAL_OF_WHOLE)):
        ratios = [row.ratio for row in rows if row.figure.split(".")[1] == field]
        if ratios:
            rows_of_means += [
                Figure(f"machine_speed.{field}", geometric_mean(ratios), "of it", ANCHOR, 1.0, goal),
                Figure(f"machine_speed.{field}.worst", max(ratios), "of it", ANCHOR, 1.0, GOAL_OF_EACH),
            ]
    return rows_of_means


def main(words: Sequence[str]) -> int:
    """Measure task by task, the other checkout first, and report."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.machine_speed")
    options.add_argument("--base", type=Path, required=True, metavar="DIR")
    options.add_argument("--tasks", nargs="+", default=task_names(), metavar="NAME")
    options.add_argument("--seeds", default="", metavar="PART", help="seeds with this in their names only")
    options.add_argument("--store", type=Path, metavar="FILE", help="rows that were measured, and are kept")
    chosen = options.parse_args(words)
    stored = json.loads(chosen.store.read_text()) if chosen.store and chosen.store.is_file() else {}
    rows = list[Figure]()
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.tasks:
            if not any(chosen.seeds in seed.name for seed in load_task(name, "mi300x").seeds):
                continue
            if name not in stored:
                pair = [times(chosen.base, name, chosen.seeds, Path(folder) / "base")]
                pair.append(times(ROOT, name, chosen.seeds, Path(folder) / "here"))
                stored[name] = [
                    {seed: list(vars(seed_times).values()) for seed, seed_times in by_seed.items()} for by_seed in pair
                ]
                print(name, stored[name], file=sys.stderr, flush=True)
                if chosen.store:
                    chosen.store.write_text(json.dumps(stored))
            theirs, ours = ({seed: Times(*row) for seed, row in by_seed.items()} for by_seed in stored[name])
            rows += figures(name, ours, theirs)
    return report("Processor time of verdicts, estimates and whole executions", [*rows, *means(rows)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
