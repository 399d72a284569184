"""All that is executed of a candidate: listed and derived cases, families of inputs, and benchmark cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from records.evaluation import CaseResult, Finding
from sandbox.candidate.growth import plan_cases
from sandbox.lab.confirmed_case import ConfirmedCase, confirmed_rows
from sandbox.lab.family_case import FamilyCase, confirmed_families, met_by_one
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.listed_case import ListedCase
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.timed_cases import TimedCase
from tasks.held_out import cost, held_out_cases


def cases_met(judge: Judge, inputs: SessionInputs, seed: int) -> Iterator[ListedCase | TimedCase | FamilyCase]:
    """Tests, shapes derived from them and from the plan, families on the first test, benchmarks on two kinds of inputs.

    The task's own families all meet the first test, and so do some of those made here, others for each candidate.
    """
    task, prepared = judge.task, judge.built.prepared
    derived = {case.name: case for case in (*plan_cases(prepared, seed), *held_out_cases(task, seed))}
    for case in (*task.tests, *derived.values()):
        yield ListedCase(judge, case, None, inputs)
    met = met_by_one(inputs)
    first = replace(task.tests[0], role="held_out")
    drawn = (family for _, family in met if family not in task.variant_names)
    for family in (*task.variant_names, *drawn):
        yield ListedCase(judge, first, family, inputs)
    for case in task.benchmarks:
        yield TimedCase(judge, case, inputs.of(case), inputs.rng)
    for case, family in met:
        yield FamilyCase(judge, case, family, inputs)


def confirmed_whole(
    judge: Judge, plain: Built | None, inputs: SessionInputs
) -> tuple[list[CaseResult], tuple[Finding, ...]]:
    """The rows of every benchmark case, as much of it as the budget allows, and of every family on one of them."""
    took_s = list[float]()
    rows, findings = confirmed_rows(judge, plain, inputs, took_s)
    if findings:
        return rows, findings
    more, findings = confirmed_families(judge, plain, inputs, took_s)
    return [*rows, *more], findings


def one_whole(judge: Judge, plain: Built | None, inputs: SessionInputs) -> tuple[CaseResult, tuple[Finding, ...]]:
    """The row of the cheapest test, whole where that fits the budget: for a candidate of which only samples were."""
    test = min(judge.task.tests, key=lambda case: cost(judge.task, case.dims))
    timed = TimedCase(judge, test, inputs.of(test), inputs.rng)
    return ConfirmedCase(timed, plain, judge.patience.confirm_s).run()
