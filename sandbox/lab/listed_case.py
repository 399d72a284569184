"""Test and held-out cases: executed whole where that is affordable, else by a sample at places that nobody foresees.

What the whole takes is estimated from workgroups drawn secretly from the whole grid, never from known ones: a candidate
cannot make the estimate large with a few costly workgroups, nor know which others will be executed. A small case is
tried whole first, for a part of the deadline; the sample, and what follows from it, has the rest: a hang costs one.
Where the deadline of a whole execution comes while one workgroup ends after the other, as on a slow processor, a sample
answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from records.errors import PlanError
from sandbox.candidate.resolve import ResolvedLaunch
from sandbox.lab.lab_verify import Judge, Rows
from sandbox.lab.scaled_case import SCALED, scaled, shortened
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import ENDS, ENOUGH, TimedCase
from tasks.held_out import SMALL, cost
from tasks.task import Case

PILOT = 3  # workgroups from anywhere that say what one costs
FEWEST = 8
MOST_ITEMS = 1 << 21  # work-items of a case that is executed whole: each costs a switch at every barrier, even if idle
ON_LONG_ITEMS = 1 << 17  # of a plan on a case with a long dim: each costs as much as its work
TRIAL = 1 / 3  # of the deadline, after which a whole execution gives way to a sample


def launches_of(judge: Judge, case: Case) -> tuple[ResolvedLaunch, ...]:
    """List the launches on a case; none where the plan has no numbers for it, which the case itself reports."""
    try:
        return judge.built.prepared.plan(case).launches
    except PlanError:
        return ()


def has_few_items(judge: Judge, case: Case) -> bool:
    """Tell whether the plan launches so few work-items on a case with a long dim that families may meet it."""
    return sum(math.prod(launch.grid) * math.prod(launch.block) for launch in launches_of(judge, case)) <= ON_LONG_ITEMS


@dataclass(frozen=True)
class ListedCase:
    """One case of verification besides the benchmarks, or one family of inputs on it."""

    judge: Judge
    case: Case
    variant: str | None
    inputs: SessionInputs

    def run(self) -> Rows:
        """Execute and compare it; findings are empty when it is right."""
        plan = self.judge.built.prepared.plan(self.case)
        if not plan.has_parts or self.judge.task.initials:
            return self._at_once(self.judge)  # a later launch reads what earlier ones wrote: a share shows it nothing
        judge, (launch,) = self.judge, plan.launches
        is_light = math.prod(launch.grid) * math.prod(launch.block) <= MOST_ITEMS
        if is_light and cost(judge.task, self.case.dims) <= SMALL:
            rows = self._whole(judge.within(TRIAL))
            if not any(finding.kind == "timeout" for finding in rows[1]):
                return rows
            judge = judge.within(1 - TRIAL)
        timed = self._timed(judge)
        sample = timed.nothing()
        findings = timed.sampled(sample, PILOT, 0)
        if findings:
            return timed.refused(findings, sample)
        accesses_each = sample.accesses / len(sample.elements_written) if sample.elements_written else 0.0
        affordable = self.judge.patience.accesses
        if findings is None:
            return self._at_once(judge)
        if is_light and accesses_each * math.prod(launch.grid) <= affordable:
            judge.moving.clear()
            rows = self._whole(judge)
            if not judge.moving:
                return rows
        many = min(ENOUGH, max(FEWEST, int(affordable / max(1.0, accesses_each))))
        findings = timed.sampled(sample, many - len(sample.elements_written), ENDS)
        if findings is None:
            return self._at_once(judge)
        return timed.refused(findings, sample) if findings else timed.answer(sample)

    def _at_once(self, judge: Judge) -> Rows:
        """All of it, or of a shorter case where its deadline comes although nothing hangs."""
        spent = cost(judge.task, self.case.dims)
        return shortened(judge, self._within, (spent, *(limit for limit in SCALED if limit < spent)))

    def _within(self, judge: Judge, limit: float) -> Rows:
        if limit >= cost(judge.task, self.case.dims):
            return self._whole(judge)
        row, findings = judge.run(scaled(judge.task, self.case, limit), self.variant)
        return replace(row, stands_for=self.case.name), findings

    def _whole(self, judge: Judge) -> Rows:
        return judge.run(self.case, self.variant)

    def _timed(self, judge: Judge) -> TimedCase:
        """Make the case on secret inputs, of which any part has its reference."""
        inputs = self.inputs.of(self.case, self.variant)
        name = self.case.name if self.variant is None else f"{self.case.name} [{self.variant}]"
        return TimedCase(judge, replace(self.case, name=name), inputs, self.inputs.rng)
