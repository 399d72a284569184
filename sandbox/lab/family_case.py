"""One benchmark case on a family of inputs, and the families that a candidate meets.

A family is secretly drawn for each benchmark case and candidate, so that all families meet all cases over a few
candidates; a kernel that leads meets every one. Few workgroups are executed, or the case scaled down where no part can
be executed alone or any part's reference is the whole one's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from records.evaluation import CaseResult, Finding
from sandbox.lab.confirmed_case import ConfirmedCase
from sandbox.lab.lab_verify import Built, Judge, Rows
from sandbox.lab.scaled_case import scaled
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import TimedCase
from tasks.held_out import cost, past_exact_counts
from tasks.task import Case

FEWEST = 2  # workgroups from anywhere in the grid
WORK = (2.0**24, 2.0**21)  # operations plus bytes of a case that is executed whole; the next where time is up
MET = 2  # cases at most on which a family meets a kernel that leads
SHARE = 0.5  # of the time that confirming the benchmark cases may take, for all families together


@dataclass(frozen=True)
class FamilyCase:
    """One benchmark case of one candidate on inputs of a family."""

    judge: Judge
    case: Case
    family: str
    inputs: SessionInputs

    @property
    def timed(self) -> TimedCase:
        """The whole case on these inputs, under a name that says so."""
        named = replace(self.case, name=f"{self.case.name} [{self.family}]", role="held_out")
        return TimedCase(self.judge, named, self.inputs.of(self.case, self.family), self.inputs.rng)

    def run(self) -> Rows:
        """Execute and compare some of it, or all of a shorter one; findings are empty when it is right."""
        task, plan = self.judge.task, self.judge.built.prepared.plan(self.case)
        if len(plan.launches) > 1 or plan.workspaces or task.initials or not self.inputs.dims:
            return self._shortened()
        timed = self.timed
        sample = timed.nothing()
        findings = timed.sampled(sample, FEWEST, 0)
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
    """A family for each benchmark case, for the next candidate."""
    names = inputs.listed.families.names
    order = [names[int(at)] for at in inputs.rng.permutation(len(names))]
    cases = inputs.task.benchmarks
    return [(case, order[number % len(order)]) for number, case in enumerate(cases)] if order else []


def confirmed_families(
    judge: Judge, plain: Built | None, inputs: SessionInputs, took_s: list[float]
) -> tuple[list[CaseResult], tuple[Finding, ...]]:
    """The rows of every family: on the costliest benchmark case that fits its part of the time and a drawn one, whole.

    Where none fits, it meets the quickest case in part. A family that changes some of several inputs meets the drawn
    one, and the costliest with all of them changed. A case that ends where a narrow type still counts is longer.
    """
    families, rows = inputs.listed.families, list[CaseResult]()
    each_s = SHARE * judge.patience.confirm_s / max(1, MET * len(families.names) - 2 * len(families.together))
    dearest = sorted(range(len(took_s)), key=lambda at: -took_s[at])
    fitting = [at for at in dearest if took_s[at] <= each_s]
    for family in families.names:
        others = [fitting[1 + int(inputs.rng.integers(len(fitting) - 1))]] if len(fitting) > 1 else []
        met_at = [*fitting[:1], *others] or dearest[-1:]
        if family in families.together:
            met_at = met_at[-1:]
        elif family in families.together.values():
            met_at = met_at[:1]
        for at in met_at:
            case = past_exact_counts(judge.task, judge.task.benchmarks[at], inputs.rng)
            met = FamilyCase(judge, case, family, inputs)
            row, findings = ConfirmedCase(met.timed, plain, each_s).run() if fitting else met.run()
            rows.append(row)
            if findings:
                return rows, findings
    return rows, ()
