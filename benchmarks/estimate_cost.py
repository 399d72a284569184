"""The processor time of one estimate, as the tuner asks for it: its own process and all it starts, together.

The tuner asks for other choices of a source's tunables, whose own choice was compiled in full before: `whole` is such
a choice, `first` the source's own. An estimate compiles for gfx942, builds the lab's program and counts three
workgroups of each benchmark case; one whose listing an earlier one had, line by line, compiles only. The anchor is the
compilation alone, in the same run. Every sample is a source that was never compiled before.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.settings import load_settings
from benchmarks.figure import Figure, report
from records.evaluation import Evaluation
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import Toolchain, find_toolchain
from sandbox.candidate.limits import resources_of
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab import LabProgram
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Built
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.predict import predict
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task

TASK, SEED = "row_softmax", "seed_tunable.hip"
CHOICES = tuple(dict(zip(("BLOCK", "VEC", "KEEP"), row, strict=True)) for row in (
    (128, 4, 8), (512, 4, 2), (256, 2, 8), (1024, 4, 1), (128, 2, 16), (512, 1, 4), (1024, 2, 2), (64, 4, 16)
))  # fmt: skip
GOAL = "<= 0.25"
Made = TypeVar("Made")


def cpu_seconds() -> float:
    """Read the processor time of this process and of every child that has ended."""
    used = (resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def timed(make: Callable[[], Made]) -> tuple[float, Made]:
    """Measure the processor seconds, and return what was made."""
    start = cpu_seconds()
    output = make()
    return cpu_seconds() - start, output


def source(task: Task, sample: int) -> str:
    """Give the seed with its code moved down so many lines: another listing, where a remark would make the same one."""
    return (task.folder / SEED).read_text(encoding="utf-8").replace("#include", "\n" * sample + "#include", 1)


def parts(toolchain: Toolchain, cache: Path, task: Task, sample: int) -> tuple[float, float, float]:
    """Measure the processor seconds of the compilation, of the build and of the count, one after the other."""
    target = load_target("mi300x")
    compiler, lab = Compiler(toolchain, cache, target), MachineLab(toolchain, cache, target)
    lab.stored_inputs(task)
    prepared = prepare(source(task, sample), task)
    compiled_s, compilation = timed(lambda: compiler.compile(prepared.candidate, prepared.tunables))
    built_s, program = timed(lambda: lab.build(prepared.candidate, prepared.tunables))
    if not compilation.ok or not isinstance(program, LabProgram):
        sys.exit("the seed does not compile")
    resources = resources_of(compilation.kernels, target, prepared.plans)
    counted_s, forecast = timed(lambda: predict(lab, Built(prepared, compilation, program), target, resources))
    if not forecast.measurements:
        sys.exit(f"the seed cannot be timed: {forecast.findings[0].message}")
    return compiled_s, built_s, counted_s


def estimate(evaluator: LabEvaluator, text: str, task: Task, choice: Mapping[str, int] | None = None) -> Evaluation:
    """Make one estimate; of a file's defaults where nothing is chosen."""
    return evaluator.estimate(evaluator.prepare(text, task, choice))


def main() -> int:
    """Warm the cache with one estimate, then take the medians of the others."""
    toolchain, task = find_toolchain(load_settings().cache_folder / "toolchain"), load_task(TASK, "mi300x")
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        evaluator = LabEvaluator(toolchain, cache, load_target("mi300x"), seed=0)
        firsts, wholes, repeats, rows = [], [], [], []
        for sample, choice in enumerate(CHOICES):
            text = source(task, 2 * sample + 1)
            firsts.append(timed(partial(estimate, evaluator, text, task))[0])
            seconds, evaluation = timed(partial(estimate, evaluator, text, task, choice))
            if not evaluation.verdict.accepted:
                sys.exit(f"the seed cannot be estimated: {evaluation.verdict.findings[0].message}")
            wholes.append(seconds)
            repeats.append(timed(partial(estimate, evaluator, f"{text}// again\n", task))[0])
            rows.append(parts(toolchain, cache, task, 2 * sample + 2))
    compiled, built, counted = (statistics.median(row[part] for row in rows[1:]) for part in range(3))
    anchor = "the compilation alone"
    return report(
        "One estimate: processor time with all children",
        [
            Figure("estimate_cost.whole", statistics.median(wholes[1:]), "s", anchor, compiled, GOAL),
            Figure("estimate_cost.first", statistics.median(firsts[1:]), "s", anchor, compiled),
            Figure("estimate_cost.equal_listing", statistics.median(repeats[1:]), "s", anchor, compiled),
            Figure("estimate_cost.build", built, "s", anchor, compiled),
            Figure("estimate_cost.count", counted, "s", anchor, compiled),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
