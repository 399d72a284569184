"""All that is executed of a candidate: listed and derived cases, families of inputs, and benchmark cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from records.errors import PlanError
from records.evaluation import CaseResult, Finding
from sandbox.candidate.derived_cases import plan_shapes
from sandbox.candidate.limits import check_limits
from sandbox.candidate.plan_ways import plan_way_cases
from sandbox.lab.confirmed_case import ConfirmedCase, confirmed_rows
from sandbox.lab.family_case import FamilyCase, confirmed_families, met_by_one
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.listed_case import ListedCase, has_few_items
from sandbox.lab.searched_case import searched
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.surveyed_case import surveyed_cases
from sandbox.lab.timed_cases import TimedCase
from sandbox.target import Target
from tasks.families import TOGETHER
from tasks.family_measures import longest_line, small_cases
from tasks.held_out import SMALL, cost
from tasks.long_shapes import large_cases
from tasks.sweep import SweptCase
from tasks.swept_values import ONE_BINADE, TURNS, seeds_of_ends
from tasks.task import Case

ORDERS = frozenset({"sorted", "gathered"})  # what these show is a question of how many places a line has
TAILED = "outliers"  # of which many are their line's last value
TAILED_COST = 2.0**21  # operations plus bytes of a derived case that meets them
MOST_TAILED = 16
BETWEEN_ENDS = 2  # exponents between the ends of their range on which a small test is executed
ON_LONG = 5  # general families besides the orders that meet the shape with the longest lines


CaseMet = ListedCase | TimedCase | FamilyCase


def cases_met(judge: Judge, inputs: SessionInputs, seed: int) -> Iterator[CaseMet]:
    """Tests, shapes derived from them and the plan or drawn, families on the first test, benchmarks on two inputs.

    All families meet the first test, but where that is a large one: there the task's own do, and of those made here
    some, others for each candidate.
    """
    task, prepared = judge.task, judge.built.prepared
    swept = inputs.swept(prepared)
    shapes = {case.name: case for case in plan_shapes(prepared, seed)}.values()
    known = (*task.tests, *task.benchmarks, *shapes, *(each.case for each in swept))
    ways = plan_way_cases(prepared, seed, known)
    for case in (*task.tests, *shapes):
        yield ListedCase(judge, case, None, inputs)
    for each in swept:
        yield ListedCase(judge, each.case, each.family, inputs)
    surveyed = surveyed_cases(judge, seed, inputs.secret, (*known, *ways))
    for case in surveyed:
        yield ListedCase(judge, case, None, inputs)
    has_parts = prepared.plans[0].has_parts and not task.initials and inputs.dims != ()
    large = large_cases(task, inputs.rng, has_parts=has_parts)
    for case in (*ways, *large):
        yield TimedCase(judge, case, inputs.fresh(case), inputs.rng)
    met = met_by_one(inputs)
    first = replace(task.tests[0], role="held_out")
    secret = replace(first, seed=first.seed ^ inputs.secret)  # the task's own families have its own tight tolerance
    is_small = cost(task, first.dims) <= SMALL
    made = _on_first(inputs) if is_small else [family for _, family in met]
    for family in dict.fromkeys((*task.variant_names, *made)):
        yield ListedCase(judge, first if family in task.variant_names else secret, family, inputs)
    yield from _in_binades(judge, inputs, first if is_small else small_cases(task)[-1])
    yield from _on_long(judge, inputs)
    yield from _tailed(judge, inputs, [*shapes, *(each.case for each in swept)])
    yield from _tailed(judge, inputs, [*surveyed])
    yield from _on_swept(judge, inputs, swept)
    for case in task.benchmarks:
        yield TimedCase(judge, case, inputs.of(case), inputs.rng)
    for case, family in met:
        yield FamilyCase(judge, case, family, inputs)


def _in_binades(judge: Judge, inputs: SessionInputs, small: Case) -> Iterator[ListedCase]:
    """A small test with the values of one input as small and as large as the task bears, and of sizes between."""
    borne = len(inputs.listed.families.ranges.get(ONE_BINADE, ()))
    for seed in seeds_of_ends(borne, BETWEEN_ENDS, inputs.rng) if borne else ():
        case = replace(small, name=f"{small.name} turn {seed % TURNS}", seed=seed, role="held_out")
        yield ListedCase(judge, case, ONE_BINADE, inputs)


def _on_long(judge: Judge, inputs: SessionInputs) -> Iterator[ListedCase]:
    """The task's own families on shapes with one long dim; orders, and some general families, where lines are long.

    Left out where the plan launches many work-items: each of them costs as much as its work.
    """
    names = [name for name in _on_first(inputs) if name not in judge.task.variant_names]
    ordered = [name for name in names if name.removesuffix(TOGETHER) in ORDERS]
    others = [name for name in names if name not in ordered]
    drawn = [others[int(at)] for at in inputs.rng.permutation(len(others))[:ON_LONG]]
    for case in inputs.long:
        if has_few_items(judge, case):
            general = [*ordered, *drawn] if case == inputs.with_long_lines else []
            for family in (*judge.task.variant_names, *general):
                yield ListedCase(judge, case, family, inputs)


def _on_swept(judge: Judge, inputs: SessionInputs, swept: Sequence[SweptCase]) -> Iterator[ListedCase]:
    """Every general family on one of the largest swept shapes: a relation of values shows on few shapes and draws."""
    names = [name for name in _on_first(inputs) if name not in judge.task.variant_names]
    largest = sorted((each.case for each in swept), key=lambda case: -cost(judge.task, case.dims))
    for at, case in zip(inputs.rng.permutation(len(names)), largest, strict=False):
        yield ListedCase(judge, replace(case, seed=case.seed ^ 1), names[int(at)], inputs)


def _tailed(judge: Judge, inputs: SessionInputs, derived: list[Case]) -> Iterator[ListedCase]:
    """The derived shapes with the longest lines on outliers: a sum of many values hardly shows that one is left out."""
    names = [name for name in inputs.listed.families.names if name == TAILED]
    affordable = [case for case in derived if cost(judge.task, case.dims) <= TAILED_COST]
    longest = sorted(affordable, key=lambda case: -longest_line(judge.task, case))[: MOST_TAILED if names else 0]
    for case in longest:
        yield ListedCase(judge, replace(case, seed=case.seed ^ inputs.secret), names[0], inputs)


def _on_first(inputs: SessionInputs) -> list[str]:
    """Every family; of one that changes some of several inputs and the one that changes them all, either."""
    families, together = inputs.listed.families, inputs.listed.families.together
    names = [name for name in families.names if name not in together.values()]
    return [together.get(name, name) if inputs.rng.integers(2) else name for name in names]


def refused(built: Built, target: Target, case: Case) -> tuple[Finding, ...]:
    """The reasons not to launch this case; a plan must serve shapes that no list names, too."""
    try:
        plan = built.prepared.plan(case)
    except PlanError as error:
        return (Finding("over_limit", str(error), line=error.line, case=case.name),)
    found = check_limits(plan, target, built.compilation.kernels)
    return tuple(replace(finding, case=case.name) for finding in found)


def confirmed_whole(judge: Judge, plain: Built, inputs: SessionInputs) -> tuple[list[CaseResult], tuple[Finding, ...]]:
    """The rows of every benchmark case, as much of it as the budget allows, and of every family on one of them."""
    took_s = list[float]()
    rows, findings = confirmed_rows(judge, plain, inputs, took_s)
    if findings:
        return rows, findings
    more, findings = confirmed_families(judge, plain, inputs, took_s)
    if findings:
        return [*rows, *more], findings
    made_for_it, findings = searched(judge, inputs)
    return [*rows, *more, *made_for_it], findings


def one_whole(judge: Judge, plain: Built, inputs: SessionInputs) -> tuple[CaseResult, tuple[Finding, ...]]:
    """The row of the cheapest test, whole where that fits the budget: for a candidate of which only samples were."""
    test = min(judge.task.tests, key=lambda case: cost(judge.task, case.dims))
    timed = TimedCase(judge, test, inputs.of(test), inputs.rng)
    return ConfirmedCase(timed, plain, judge.patience.confirm_s).run()
