"""A source read and checked against a task: the first stage of every evaluation, wherever the rest of it happens."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from records.errors import PlanError
from records.evaluation import Evaluation, Finding
from sandbox.candidate.codes import rejected
from sandbox.candidate.parse import check, parse
from sandbox.candidate.plan import Candidate
from sandbox.candidate.resolve import ResolvedPlan, resolve
from tasks.task import Task


@dataclass(frozen=True)
class Reading:
    """A candidate that fits its task: every tunable chosen, every listed case in numbers."""

    candidate: Candidate
    tunables: Mapping[str, int]
    plans: tuple[ResolvedPlan, ...]  # of the tests, then of the benchmarks


def read(source: str, task: Task, tunables: Mapping[str, int] | None, key: str) -> Reading | Evaluation:
    """The candidate, or the evaluation under `key` that says why there is none."""
    try:
        candidate = parse(source)
        chosen = {**candidate.defaults(), **(tunables or {})}
        check(candidate, task)
        plans = tuple(resolve(candidate, task, case, chosen) for case in (*task.tests, *task.benchmarks))
    except PlanError as error:
        finding = Finding("compile_error", str(error), line=error.line)
        identity = hashlib.sha256(source.encode()).hexdigest()
        code = "A.2" if error.fault == "form" else "A.1"
        return Evaluation(key, identity, dict(tunables or {}), rejected("parse", (finding,), code))
    return Reading(candidate, chosen, plans)


def identity(source: str, tunables: Mapping[str, int] | None) -> tuple[str, dict[str, int]]:
    """What an evaluation key says of a source: the candidate's id and all tunables; its text's hash when unreadable."""
    try:
        candidate = parse(source)
    except PlanError:
        return hashlib.sha256(source.encode()).hexdigest(), dict(tunables or {})
    return candidate.id, {**candidate.defaults(), **(tunables or {})}
