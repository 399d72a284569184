"""Benchmark cases of a kernel that leads: executed whole where that fits a budget, else by many workgroups.

The budget is processor time, this process's own and the executor's. Where it ends before enough workgroups were
executed, the row says how many there were.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from records.evaluation import CaseResult, Finding
from sandbox.lab.drawn import Drawn
from sandbox.lab.lab_verify import Built, Judge, Rows
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import BATCH, ENOUGH, TimedCase
from tasks.held_out import SMALL, cost

PILOT = 3  # workgroups from anywhere to see what a whole execution takes
ENDS_OF_ENOUGH = 8
UNCHECKED = 5  # times as fast as with checks a kernel runs without
DOUBTFUL = 20  # times as dear as they are a few workgroups may look, the first to touch their pages, on a busy machine
TRIED = 1 / 8  # of its part of the budget for which it is tried, unless it was given more
WHOLE_WORK = 2.0**33  # operations plus bytes, for what cannot be sampled
DEADLINE_S = 300.0  # of an execution without checks
LATE = 4  # times as long as it was expected to take it may take, where that is more


@dataclass(frozen=True)
class ConfirmedCase:
    """One benchmark case of one candidate, of which `plain` is the program without checks."""

    timed: TimedCase
    plain: Built
    budget_s: float

    def run(self) -> Rows:
        """Execute and compare it; findings are empty when it is right."""
        timed, sample, begun_s = self.timed, self.timed.nothing(), self.spent_s()
        if cost(timed.judge.task, timed.case.dims) <= SMALL:
            return timed.whole()
        if not timed.plan.has_parts or timed.judge.task.initials:
            return self._in_one()
        findings = timed.sampled(sample, PILOT, 0)
        if findings is None:
            return self._in_one()
        if findings:
            return timed.refused(findings, sample)
        each_s = sample.seconds / len(sample.elements_written)
        whole_s = math.prod(timed.launch.grid) * each_s / UNCHECKED
        row, limit_s = None, self.limit_s(each_s)
        if whole_s <= limit_s:
            row = self._whole(max(DEADLINE_S, LATE * whole_s))
        elif whole_s <= DOUBTFUL * limit_s:
            row = self._whole(self.tried_s)
        return row or self._many(sample, begun_s)

    def limit_s(self, each_s: float) -> float:
        """Seconds up to which the whole is executed: the usual limit, or what `ENOUGH` workgroups take."""
        return min(self.budget_s, max(self.timed.judge.patience.whole_s, ENOUGH * each_s))

    @property
    def tried_s(self) -> float:
        """Seconds for which the whole is tried where the first workgroups say that it takes too long."""
        patience = self.timed.judge.patience
        return min(patience.tried_s, self.budget_s * (1.0 if patience.is_longer else TRIED))

    def spent_s(self) -> float:
        """Processor time of this thread and of its executors so far."""
        return time.thread_time() + self.timed.judge.lab.cpu_here_s

    def _whole(self, deadline_s: float) -> Rows | None:
        return self.timed.whole_by(self.plain, deadline_s)

    def _in_one(self) -> Rows:
        """Answer for a plan of which no part can be executed alone."""
        is_short = cost(self.timed.judge.task, self.timed.case.dims) <= WHOLE_WORK
        return (self._whole(DEADLINE_S) if is_short else None) or self.timed.scaled()

    def _many(self, sample: Drawn, begun_s: float) -> Rows:
        """Enough workgroups, a batch at a time, or as many as the budget allows."""
        findings: tuple[Finding, ...] | None = ()
        ends = ENDS_OF_ENOUGH
        while len(sample.drawn) < ENOUGH and self.spent_s() - begun_s < self.budget_s and not findings:
            before = len(sample.elements_written)
            findings = self.timed.sampled(sample, min(BATCH, ENOUGH - len(sample.drawn)), ends)
            if findings is None:
                return self._in_one()
            if len(sample.elements_written) == before:
                break  # the grid has no others
            ends = 0
        return self.timed.refused(findings, sample) if findings else self.timed.answer(sample)


def confirmed_rows(
    judge: Judge, plain: Built, inputs: SessionInputs, took_s: list[float]
) -> tuple[list[CaseResult], tuple[Finding, ...]]:
    """Confirm all benchmark cases within one budget, up to the first with findings; `took_s` gets their times."""
    rows, cases, left_s = list[CaseResult](), judge.task.benchmarks, judge.patience.confirm_s
    for number, case in enumerate(cases):
        timed = TimedCase(judge, case, inputs.of(case), inputs.rng)
        confirmed = ConfirmedCase(timed, plain, left_s / (len(cases) - number))
        begun_s = confirmed.spent_s()
        row, findings = confirmed.run()
        took_s.append(confirmed.spent_s() - begun_s)
        left_s = max(0.0, left_s - took_s[-1])
        rows.append(row)
        if findings:
            return rows, findings
    return rows, ()
