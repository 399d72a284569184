"""One benchmark case on a family of inputs, and the families that a candidate meets.

A family is secretly drawn for each benchmark case and candidate, so that all families meet all cases over a few
candidates; a kernel that leads meets every one. Few workgroups are executed, or the case scaled down where no part can
be executed alone or any part's reference is the whole one's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from records.evaluation import CaseResult, Finding
from sandbox.lab.confirmed_case import ConfirmedCase
from sandbox.lab.lab_verify import Built, Judge, Rows
from sandbox.lab.overlap import overlapping
from sandbox.lab.scaled_case import scaled
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import ENDS, TimedCase
from tasks.held_out import cost, past_exact_counts
from tasks.task import Case

FEWEST = 2  # workgroups from anywhere in the grid
WORK = (2.0**24, 2.0**21)  # operations plus bytes of a case that is executed whole; the next where time is up
MET_WHOLE = 2  # cases at most on which a family meets a kernel that leads and of which no part can be executed alone
MET_IN_PART = 3  # besides one whole, where parts can
SHARE = 0.5  # of the time that confirming the benchmark cases may take, for all families together


@dataclass(frozen=True)
class FamilyCase:
    """One benchmark case of one candidate on inputs of a family."""

    judge: Judge
    case: Case
    family: str
    inputs: SessionInputs
    ends: int = 0  # workgroups at each axis's end, besides those from anywhere

    @property
    def has_parts(self) -> bool:
        """True where a few workgroups of its plan can be executed alone."""
        plan = self.judge.built.prepared.plan(self.case)
        return plan.has_parts and not self.judge.task.initials and bool(self.inputs.dims)

    @property
    def timed(self) -> TimedCase:
        """The whole case on these inputs, under a name that says so."""
        case = replace(self.case, name=f"{self.case.name} [{self.family}]", role="held_out")
        return TimedCase(self.judge, case, self.inputs.of(self.case, self.family), self.inputs.rng)

    def run(self) -> Rows:
        """Execute and compare some of it, or all of a shorter one; findings are empty when it is right."""
        if not self.has_parts:
            return self._shortened()
        timed = self.timed
        sample = timed.nothing()
        findings = timed.sampled(sample, FEWEST, self.ends)
        if findings is None:
            return self._shortened()
        if findings:
            return timed.refused(findings, sample)
        return timed.answer(sample) if sample.is_missing(timed.elements) else (timed.row(sample), ())

    def _shortened(self) -> Rows:
        secret = replace(self.case, seed=self.case.seed ^ self.inputs.secret, role="held_out")
        for limit in WORK:
            is_short = cost(self.judge.task, secret.dims) <= limit
            case = secret if is_short else scaled(self.judge.task, secret, limit)
            rows = self.judge.run(case, self.family)
            if not any(finding.kind == "timeout" for finding in rows[1]):
                break
        return rows


def met_by_one(inputs: SessionInputs) -> list[tuple[Case, str]]:
    """Draw a family for each benchmark case, for the next candidate."""
    names = inputs.listed.families.names
    order = [names[int(index)] for index in inputs.rng.permutation(len(names))]
    cases = inputs.task.benchmarks
    return [(case, order[number % len(order)]) for number, case in enumerate(cases)] if order else []


def confirmed_families(
    judge: Judge, plain: Built, inputs: SessionInputs, took_s: list[float]
) -> tuple[list[CaseResult], tuple[Finding, ...]]:
    """Meet every family: on a drawn benchmark case, whole where time is left for it, and on others in part.

    Where parts can be executed alone, whole executions of families, in a drawn order, take as long together as those of
    the benchmark cases did, unless more time was asked for. No single one takes more than its part of the budget.
    Of a family that changes some of several inputs and the one that changes them all, either meets each other case. A
    plan of which no part can be executed alone meets two cases whole. Where none fits, all are met in part. A case that
    ends where a narrow type still counts is longer.
    """
    each_s = SHARE * judge.patience.confirm_s / max(1, MET_WHOLE * len(inputs.listed.families.names))

    def answer(met: tuple[FamilyCase, bool]) -> Rows:
        family_case, is_whole = met
        return ConfirmedCase(family_case.timed, plain, each_s).run() if is_whole else family_case.run()

    rows = list[CaseResult]()
    for row, findings in overlapping(_met_by_leader(judge, inputs, took_s, each_s), answer):
        rows.append(row)
        if findings:
            return rows, findings
    return rows, ()


def _met_by_leader(
    judge: Judge, inputs: SessionInputs, took_s: list[float], each_s: float
) -> Iterator[tuple[FamilyCase, bool]]:
    """Yield each family on its benchmark cases, and whether that case is executed whole."""
    cases, rng, together = judge.task.benchmarks, inputs.rng, inputs.listed.families.together
    names = inputs.listed.families.names
    has_parts = FamilyCase(judge, cases[0], "", inputs).has_parts
    left_s = sum(took_s) if has_parts and not judge.patience.is_longer else math.inf
    for family in (names[int(i)] for i in rng.permutation(len(names))):
        fitting = [i for i, seconds in enumerate(took_s) if seconds <= min(each_s, left_s)]
        order = [int(i) for i in rng.permutation(len(cases))]
        met_whole = [i for i in order if i in fitting][: 1 if has_parts or family in together else MET_WHOLE]
        met_in_part = [i for i in order if i not in met_whole][: MET_IN_PART + (not met_whole) if has_parts else 0]
        if family in together or family in together.values():
            met_in_part = [i for i in met_in_part if rng.integers(2)]
        if not met_whole and not met_in_part:
            met_in_part = [min(range(len(cases)), key=lambda i: took_s[i])]
        left_s -= sum(took_s[i] for i in met_whole)
        for i in (*met_whole, *met_in_part):
            case = past_exact_counts(judge.task, cases[i], rng)
            yield FamilyCase(judge.alone(), case, family, inputs, ENDS), i in met_whole
