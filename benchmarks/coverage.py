"""Errors that only a benchmark case shows: the share that verification and a leader's confirmation find, and the cost.

    python -m benchmarks.coverage [--trials N] [--only TASK ...] [--limit SECONDS] [--seconds N]

Right kernels of four shipped tasks, of a fifth with `--only fp8_block_gemm`, get an error at a random place of a random
benchmark case: in one workgroup, in one row, in one strip of the reduction, wherever a dim reaches the benchmark, or in
one call of n. A second table says what the whole execution of each benchmark case of every task takes by a program
without checks; above the limit it is an estimate from a few workgroups, or the time at which an execution was ended
that no sample stands for. Seconds are processor time, of this process and of the lab's executors. An interrupted run
goes on when it is started again.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app.settings import load_settings
from benchmarks.figure import Figure, report
from benchmarks.kept_rows import KeptRows, Row
from benchmarks.planted_errors import DEAR, HOSTS, KINDS, TARGET, planted
from records.evaluation import Evaluation
from sandbox.amdgcn.compiler import Compilation
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.prepare import prepare
from sandbox.lab.confirmed_case import DEADLINE_S, PILOT, UNCHECKED
from sandbox.lab.lab import Lab, LabProgram
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import TimedCase
from sandbox.target import load_target
from tasks.loader import load_task, task_names
from tasks.task import Case

UNSAMPLED = 3.0  # times the limit after which a case that cannot be sampled is ended


@dataclass
class Found:
    """Errors of one kind in one task: planted, found by each step, processor time of each step."""

    planted: int = 0
    verified: int = 0
    confirmed: int = 0
    verify_s: float = 0.0
    confirm_s: float = 0.0

    def add(self, row: Row) -> None:
        """Count one more wrong kernel."""
        self.planted += 1
        self.verified += row["verified"]
        self.confirmed += row["confirmed"]
        self.verify_s += row["verify_s"]
        self.confirm_s += row["confirm_s"]


def judged(evaluator: LabEvaluator, name: str, kind: str, number: int) -> Row:
    """Judge one wrong kernel: what finds it, and the processor time of both steps."""
    source = planted(name, kind, random.Random(f"{name} {kind} {number}"))
    prepared = evaluator.prepare(source, load_task(name, TARGET))
    made, verify_s = _timed(evaluator, lambda: evaluator.verify(prepared))
    is_verified, confirm_s = not made.verdict.accepted, 0.0
    if not is_verified:
        made, confirm_s = _timed(evaluator, lambda: evaluator.confirm(prepared))
    is_found = not made.verdict.accepted
    return {
        "task": name,
        "kind": kind,
        "verified": is_verified,
        "confirmed": is_found,
        "verify_s": verify_s,
        "confirm_s": confirm_s,
    }


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


def executed(lab: Lab, cache: Path, name: str, case: Case, limit_s: float, source: str = "") -> Row:
    """Execute one benchmark case whole by this kernel or the task's last seed; estimate it where that takes longer."""
    task = load_task(name, TARGET)
    prepared = prepare(source or task.seeds[-1].read_text(encoding="utf-8"), task)
    inputs = SessionInputs(task, cache)
    program = lab.build(prepared.candidate, prepared.tunables)
    if not isinstance(program, LabProgram):
        sys.exit(f"{name} does not build: {program[0].message}")
    checked, plain = (
        Built(prepared, Compilation(True), replace(program, is_checked=checks)) for checks in (True, False)
    )
    timed = TimedCase(Judge(lab, checked), case, inputs.of(case), inputs.rng)
    return asdict(_whole(lab, timed, plain, case, limit_s))


def _whole(lab: Lab, timed: TimedCase, plain: Built, case: Case, limit_s: float) -> Whole:
    name, sample = timed.judge.task.name, timed.nothing()
    total = sum(math.prod(launch.grid) for launch in timed.plan.launches)
    is_alone = len(timed.plan.launches) < 2 and not timed.plan.workspaces
    findings = timed.sampled(sample, PILOT, 0) if is_alone else None
    if findings:
        sys.exit(f"{name}, {case.name}: the kernel is refused: {findings[0].message}")
    if findings is not None:
        estimate_s = sample.seconds / len(sample.written) * total / UNCHECKED
        if estimate_s > limit_s > 0:
            return Whole(name, case.name, total, estimate_s, True)
    begun_s = time.process_time() + lab.cpu_s
    made = timed.whole_by(plain, limit_s * UNSAMPLED if limit_s > 0 and findings is None else DEADLINE_S)
    spent_s = time.process_time() + lab.cpu_s - begun_s
    if made is not None and made[1]:
        sys.exit(f"{name}, {case.name}: the kernel is refused: {made[1][0].message}")
    return Whole(name, case.name, total, spent_s, made is None)


def _print(rows: Mapping[tuple[str, str], Found], executions: list[Whole]) -> None:
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


def figures(rows: Mapping[tuple[str, str], Found], executions: list[Whole]) -> list[Figure]:
    """Give the shares found by kind over all tasks, and the longest whole execution of each task."""
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
    parser.add_argument("--only", nargs="+", default=task_names(), choices=task_names(), metavar="TASK")
    parser.add_argument("--limit", type=float, default=20.0, metavar="SECONDS", help="of a whole execution; 0: none")
    parser.add_argument("--seconds", type=float, default=0.0, metavar="N", help="after which no more is begun; 0: none")
    wanted = parser.parse_args()
    settings, target = load_settings(), load_target(TARGET)
    toolchain, cache = find_toolchain(settings.cache_folder / "toolchain"), settings.cache_folder / "kernels"
    evaluator = LabEvaluator(toolchain, cache, target, 7, settings.cores)
    lab = MachineLab(toolchain, cache, target, settings.cores)
    planted_steps = [
        (f"{name}, {kind}, {number}", partial(judged, evaluator, name, kind, number))
        for number in range(wanted.trials)
        for name in HOSTS
        if name in wanted.only and (name not in DEAR or len(wanted.only) < len(task_names()))
        for kind in KINDS
    ]
    whole_steps = [
        (f"{name}, {case.name}", partial(executed, lab, cache, name, case, wanted.limit))
        for name in wanted.only
        for case in load_task(name, TARGET).benchmarks
    ]
    kept = KeptRows("coverage", [wanted.trials, wanted.only, wanted.limit], wanted.seconds)
    made = kept.collect([*planted_steps, *whole_steps])
    rows: dict[tuple[str, str], Found] = {}
    for row in (row for row in made if "kind" in row):
        rows.setdefault((row["task"], row["kind"]), Found()).add(row)
    executions = [Whole(**row) for row in made if "kind" not in row]
    _print(rows, executions)
    return kept.code(report("Errors that only a benchmark case shows", figures(rows, executions)))


if __name__ == "__main__":
    sys.exit(main())
