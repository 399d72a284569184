"""Benchmark cases executed whole, by a program without checks, and the processor time that this takes."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.kept_rows import Row
from benchmarks.planted_errors import TARGET
from sandbox.amdgcn.compiler import Compilation
from sandbox.candidate.prepare import prepare
from sandbox.lab.confirmed_case import DEADLINE_S, PILOT, UNCHECKED
from sandbox.lab.lab import Lab, LabProgram
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import TimedCase
from tasks.loader import load_task
from tasks.task import Case

UNSAMPLED = 3.0  # times the limit after which a case that cannot be sampled is ended


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
        estimate_s = sample.seconds / len(sample.elements_written) * total / UNCHECKED
        if estimate_s > limit_s > 0:
            return Whole(name, case.name, total, estimate_s, True)
    begun_s = time.process_time() + lab.cpu_s
    outcome = timed.whole_by(plain, limit_s * UNSAMPLED if limit_s > 0 and findings is None else DEADLINE_S)
    spent_s = time.process_time() + lab.cpu_s - begun_s
    if outcome is not None and outcome[1]:
        sys.exit(f"{name}, {case.name}: the kernel is refused: {outcome[1][0].message}")
    return Whole(name, case.name, total, spent_s, outcome is None)
