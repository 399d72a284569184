"""Errors that only a benchmark case shows: the share that verification and a leader's confirmation find, and the cost.

    python -m benchmarks.coverage [--trials N] [--tasks NAME ...] [--limit SECONDS] [--fast]

Right kernels of the shipped tasks get an error at a random place of a random benchmark case: in one workgroup, in one
row, in one strip of the reduction, wherever a dim reaches the benchmark, or in one call of n. A second table says what
the whole execution of each benchmark case takes by a program without checks; above the limit it is an estimate from a
few workgroups. Seconds are processor time, of this process and of the lab's executors.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from app.settings import load_settings
from benchmarks.figure import Figure, report
from records.evaluation import Evaluation
from sandbox.amdgcn.compiler import Compilation
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.prepare import Prepared, prepare
from sandbox.lab.confirmed_case import DEADLINE_S, PILOT, UNCHECKED
from sandbox.lab.lab import Lab, LabProgram
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import TimedCase
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Case, Task

TARGET = "mi300x"
KINDS = ("one workgroup", "one row", "one strip", "a range of shapes", "one call in n")
STRIPS = 16
CALLS = "__device__ unsigned calls;\n"
COUNT = "const unsigned call = {first} ? calls++ : 0u;\n    "


@dataclass(frozen=True)
class Host:
    """A right kernel and the texts in it at which an error is planted."""

    seed: str
    store: tuple[str, str]  # the value that is stored, and the same made wrong where the macro WRONG holds
    term: tuple[str, str]  # one term of the reduction, and the same left out where the macro SKIPPED holds
    row: str  # of the output, in the kernel's words
    strip: tuple[str, str]  # the index along the reduction, and its length
    begin: str  # the text behind which the macros' names are all known, at the beginning of the kernel's body
    rows: str = "rows"  # the dim along which rows lie


HOSTS: Mapping[str, Host] = {
    "row_softmax": Host(
        "seed.hip",
        ("expf(x[j] - top) / sum;", "expf(x[j] - top) / sum * (WRONG ? 1.01f : 1.0f);"),
        ("sum += expf(x[j] - top);", "sum += SKIPPED ? 0.0f : expf(x[j] - top);"),
        "row",
        ("j", "cols"),
        "const int row = blockIdx.x * 64 + threadIdx.x;\n",
    ),
    "rms_norm": Host(
        "seed.hip",
        (
            "narrow(widen(x[j]) * scale * widen(w[j]));",
            "narrow(widen(x[j]) * scale * widen(w[j]) * (WRONG ? 1.1f : 1));",
        ),
        ("sum += widen(x[j]) * widen(x[j]);", "sum += SKIPPED ? 0.0f : widen(x[j]) * widen(x[j]);"),
        "row",
        ("j", "cols"),
        "const int row = blockIdx.x * 64 + threadIdx.x;\n",
    ),
    "transpose": Host(
        "seed.hip",
        ("= x[(long)i * cols + j];", "= x[(long)i * cols + j] * (WRONG || SKIPPED ? 1.01f : 1.0f);"),
        ("", ""),
        "i",
        ("j", "cols"),
        "const int i = blockIdx.y * 16 + threadIdx.y;\n",
    ),
    "fp8_block_gemm": Host(
        "seed.hip",
        ("to_bf16(total);", "to_bf16(total * (WRONG ? 1.1f : 1.0f));"),
        ("for (int kk = start; kk", "for (int kk = SKIPPED ? k : start; kk"),
        "i",
        ("start", "k"),
        "const int j = blockIdx.y * 16 + threadIdx.y;\n",
        "m",
    ),
}


def planted(name: str, kind: str, rng: random.Random) -> str:
    """The source of the task's right kernel with one error of this kind."""
    host, task = HOSTS[name], load_task(name, TARGET)
    source = (task.folder / host.seed).read_text(encoding="utf-8")
    case = rng.choice(task.benchmarks)
    grid = prepare(source, task).plan(case).launches[0].grid
    here = " && ".join(f"{dim} == {length}" for dim, length in case.dims.items())
    wrong, skipped, count = "false", "false", ""
    if kind == "one workgroup":
        places = zip("xyz", (rng.randrange(extent) for extent in grid), strict=True)
        wrong = " && ".join([here, *(f"blockIdx.{axis} == {place}" for axis, place in places)])
    elif kind == "one row":
        wrong = f"{here} && {host.row} == {rng.randrange(case.dims[host.rows])}"
    elif kind == "one strip":
        index, length = host.strip
        skipped = f"{here} && {index} / (({length} + {STRIPS - 1}) / {STRIPS}) == {rng.randrange(STRIPS)}"
    elif kind == "a range of shapes":
        dim = rng.choice(sorted(case.dims))
        longest = max(test.dims[dim] for test in task.tests)
        larger = sorted({each.dims[dim] for each in task.benchmarks if each.dims[dim] > longest})
        wrong = f"{dim} >= {rng.choice(larger)}" if larger else here
    else:
        wrong = f"call % {rng.randint(2, 100)} == 1"
        count = COUNT.format(first="blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0")
        wrong = f"({wrong})"
    return _with(source, host, wrong, skipped, count)


def _with(source: str, host: Host, wrong: str, skipped: str, count: str) -> str:
    for old, new in (host.store, host.term):
        source = source.replace(old, new) if old else source
    source = source.replace(host.begin, f"{host.begin}    {count}")
    head = f"#include <hip/hip_runtime.h>\n#define WRONG ({wrong})\n#define SKIPPED ({skipped})\n"
    return source.replace("#include <hip/hip_runtime.h>\n", head + (CALLS if count else ""))


@dataclass
class Row:
    """Errors of one kind in one task: planted, found by each step, processor time of each step."""

    planted: int = 0
    verified: int = 0
    confirmed: int = 0
    verify_s: float = 0.0
    confirm_s: float = 0.0

    def add(self, evaluator: LabEvaluator, prepared: Prepared) -> None:
        """Judge one more wrong kernel."""
        made, spent_s = _timed(evaluator, lambda: evaluator.verify(prepared))
        self.planted += 1
        self.verify_s += spent_s
        self.verified += not made.verdict.accepted
        if made.verdict.accepted:
            made, spent_s = _timed(evaluator, lambda: evaluator.confirm(prepared))
            self.confirm_s += spent_s
        self.confirmed += not made.verdict.accepted


def _timed(evaluator: LabEvaluator, step: Callable[[], Evaluation]) -> tuple[Evaluation, float]:
    begun_s = time.process_time() + evaluator.executors_s
    made = step()
    return made, time.process_time() + evaluator.executors_s - begun_s


@dataclass(frozen=True)
class Whole:
    """The whole execution of one benchmark case by a program without checks."""

    task: str
    case: str
    workgroups: int
    seconds: float
    is_estimate: bool


def wholes(lab: Lab, evaluator_cache: SessionInputs, task: Task, limit_s: float) -> Iterator[Whole]:
    """Every benchmark case of a task by its last seed, or an estimate where that takes longer."""
    prepared = prepare(task.seeds[-1].read_text(encoding="utf-8"), task)
    programs = [lab.build(prepared.candidate, prepared.tunables, instrumented=checks) for checks in (True, False)]
    checked, plain = (
        Built(prepared, Compilation(True), program) for program in programs if isinstance(program, LabProgram)
    )
    for case in task.benchmarks:
        timed = TimedCase(Judge(lab, checked), case, evaluator_cache.of(case), evaluator_cache.rng)
        yield _whole(lab, timed, plain, case, limit_s)


def _whole(lab: Lab, timed: TimedCase, plain: Built, case: Case, limit_s: float) -> Whole:
    sample, total = timed.nothing(), math.prod(timed.launch.grid)
    if timed.sampled(sample, PILOT, 0):
        sys.exit(f"{case.name}: a shipped kernel is refused")
    estimate_s = sample.seconds / len(sample.written) * total / UNCHECKED
    if estimate_s > limit_s:
        return Whole(timed.judge.task.name, case.name, total, estimate_s, True)
    begun_s = time.process_time() + lab.cpu_s
    made = timed.whole_by(plain, DEADLINE_S)
    spent_s = time.process_time() + lab.cpu_s - begun_s
    if made is not None and made[1]:
        sys.exit(f"{case.name}: a shipped kernel is refused: {made[1][0].message}")
    return Whole(timed.judge.task.name, case.name, total, spent_s, False)


def _print(rows: Mapping[tuple[str, str], Row], executions: list[Whole]) -> None:
    table = Table(title="errors planted in right kernels, on one benchmark case each")
    for heading in ("task", "error in", "planted", "verify", "s each", "verify and confirm", "s each"):
        table.add_column(heading, justify="left" if heading in ("task", "error in") else "right")
    for (task, kind), row in rows.items():
        later = max(1, row.planted - row.verified)
        found = (str(row.planted), str(row.verified), f"{row.verify_s / row.planted:.1f}")
        table.add_row(task, kind, *found, str(row.confirmed), f"{row.confirm_s / later:.1f}")
    whole = Table(title="the whole execution of a benchmark case without checks")
    for heading in ("task", "case", "workgroups", "s"):
        whole.add_column(heading, justify="right" if heading in ("workgroups", "s") else "left")
    for one in executions:
        said = f"about {one.seconds:.0f}, not executed" if one.is_estimate else f"{one.seconds:.1f}"
        whole.add_row(one.task, one.case, str(one.workgroups), said)
    console = Console(soft_wrap=True)
    console.print(table)
    console.print(whole)


def figures(rows: Mapping[tuple[str, str], Row], executions: list[Whole]) -> list[Figure]:
    """Shares found by kind over all tasks, and the longest whole execution of each task."""
    made = []
    for kind in KINDS:
        of_kind = [row for (_, each), row in rows.items() if each == kind]
        count = sum(row.planted for row in of_kind)
        name = kind.replace(" ", "_")
        verified, confirmed = sum(r.verified for r in of_kind), sum(r.confirmed for r in of_kind)
        made += [
            Figure(f"coverage.verify.{name}", verified, "kernels", "wrong kernels", count),
            Figure(f"coverage.confirm.{name}", confirmed, "kernels", "wrong kernels", count),
        ]
    for task in dict.fromkeys(one.task for one in executions):
        own = [one for one in executions if one.task == task]
        longest = max(own, key=lambda one: one.seconds)
        how = "estimated" if longest.is_estimate else "executed"
        total = sum(one.seconds for one in own)
        anchor = f"all {len(own)} cases; {longest.case}, {how}"
        made.append(Figure(f"coverage.whole.{task}", longest.seconds, "s", anchor, total))
    return made


def main() -> int:
    """Plant, judge, execute; print both tables and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=4, metavar="N", help="errors of each kind in each task")
    parser.add_argument("--tasks", nargs="+", default=[*HOSTS], choices=[*HOSTS], metavar="NAME")
    parser.add_argument("--limit", type=float, default=20.0, metavar="SECONDS", help="of a whole execution; 0: none")
    parser.add_argument("--fast", action="store_true", help="one error of each kind, whole executions up to 5 s")
    wanted = parser.parse_args()
    trials, limit_s = (1, 5.0) if wanted.fast else (wanted.trials, wanted.limit)
    settings, target = load_settings(), load_target(TARGET)
    toolchain, cache = find_toolchain(settings.cache_folder / "toolchain"), settings.cache_folder / "kernels"
    evaluator, rng = LabEvaluator(toolchain, cache, target, 7, settings.cores), random.Random(7)
    rows: dict[tuple[str, str], Row] = {}
    executions: list[Whole] = []
    lab = Lab(toolchain, cache, target, settings.cores)
    for name in wanted.tasks:
        task = load_task(name, TARGET)
        for kind in KINDS:
            row = rows.setdefault((name, kind), Row())
            for _ in range(trials):
                row.add(evaluator, evaluator.prepare(planted(name, kind, rng), task))
            print(f"{name}, {kind}: {row}", flush=True)
        executions += wholes(lab, SessionInputs(task, cache), task, limit_s)
    _print(rows, executions)
    return report("Errors that only a benchmark case shows", figures(rows, executions))


if __name__ == "__main__":
    sys.exit(main())
