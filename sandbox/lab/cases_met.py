"""All that is executed of a candidate: a table of laws, each of which yields cases, with the reason for it.

`LAWS` is the order of execution. A law says which shapes and inputs are met and how much of them is executed: a
`ListedCase` whole where that is affordable, a `TimedCase` by drawn workgroups, a `FamilyCase` by a few of them.
`python -m benchmarks.case_laws` measures which wrong kernels each law alone refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from records.computed_once import computed_once
from records.errors import PlanError
from records.evaluation import CaseResult, Finding
from sandbox.candidate.limits import check_limits
from sandbox.cases.derived import plan_shapes
from sandbox.cases.inputs.families import TOGETHER
from sandbox.cases.inputs.family_measures import longest_line, small_cases
from sandbox.cases.inputs.swept_values import ONE_BINADE, TURNS, seeds_of_ends
from sandbox.cases.shapes.long_shapes import large_cases
from sandbox.cases.shapes.plan_ways import plan_way_cases
from sandbox.cases.sweep import SweptCase
from sandbox.lab.confirmed_case import ConfirmedCase, confirmed_rows
from sandbox.lab.family_case import FamilyCase, confirmed_families, met_by_one
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.listed_case import ListedCase, has_few_items
from sandbox.lab.searched_case import searched
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.surveyed_case import surveyed_cases
from sandbox.lab.timed_cases import TimedCase
from sandbox.target import Target
from tasks.held_out import SMALL, cost
from tasks.task import Case, Task

ORDERS = frozenset({"sorted", "gathered"})  # what these show is a question of how many places a line has
TAILED = "outliers"  # of which many are their line's last value
TAILED_COST = 2.0**21  # operations plus bytes of a derived case that meets them
MOST_TAILED = 16
BETWEEN_ENDS = 2  # exponents between the ends of their range on which a small test is executed
ON_LONG = 5  # general families besides the orders that meet the shape with the longest lines


CaseMet = ListedCase | TimedCase | FamilyCase


@dataclass(frozen=True)
class CaseDraw:
    """The shapes drawn for one candidate, each kind once, from which the laws take their cases."""

    judge: Judge
    inputs: SessionInputs
    seed: int

    @property
    def task(self) -> Task:
        """The task whose cases they are."""
        return self.judge.task

    @computed_once
    def shapes(self) -> tuple[Case, ...]:
        """Give the shapes derived from the plan and from the tests, each once."""
        return tuple({case.name: case for case in plan_shapes(self.judge.built.prepared, self.seed)}.values())

    @computed_once
    def swept(self) -> tuple[SweptCase, ...]:
        """Give the first cases of the candidate's own sweep."""
        return self.inputs.swept(self.judge.built.prepared)

    @computed_once
    def known_shapes(self) -> tuple[Case, ...]:
        """Give the listed, derived and swept shapes."""
        return (*self.task.tests, *self.task.benchmarks, *self.shapes, *(row.case for row in self.swept))

    @computed_once
    def ways(self) -> tuple[Case, ...]:
        """Give shapes for the ways of the plan that no known shape takes."""
        return plan_way_cases(self.judge.built.prepared, self.seed, self.known_shapes)

    @computed_once
    def surveyed(self) -> tuple[Case, ...]:
        """Give shapes on which the program does what it does on no known shape."""
        return surveyed_cases(self.judge, self.seed, self.inputs.secret, (*self.known_shapes, *self.ways))

    @computed_once
    def on_benchmarks(self) -> list[tuple[Case, str]]:
        """Give a drawn family for each benchmark case."""
        return met_by_one(self.inputs)

    @property
    def first(self) -> Case:
        """The first test, as a held-out case."""
        return replace(self.task.tests[0], role="held_out")

    @property
    def has_small_first(self) -> bool:
        """True where the first test is cheap enough to meet every family."""
        return cost(self.task, self.first.dims) <= SMALL

    def families(self) -> list[str]:
        """Name every family; of one that changes some of several inputs and the one that changes them all, either."""
        families, together = self.inputs.listed.families, self.inputs.listed.families.together
        names = [name for name in families.names if name not in together.values()]
        return [together.get(name, name) if self.inputs.rng.integers(2) else name for name in names]

    def general_families(self) -> list[str]:
        """Name those of them that the task does not declare."""
        return [name for name in self.families() if name not in self.task.variant_names]

    def listed(self, case: Case, family: str | None = None) -> ListedCase:
        """Make a case that is executed whole where that is affordable."""
        return ListedCase(self.judge, case, family, self.inputs)

    def secret(self, case: Case) -> Case:
        """Give the case with inputs that no other process draws."""
        return replace(case, seed=case.seed ^ self.inputs.secret)


@dataclass(frozen=True)
class CaseLaw:
    """A row of the table: its name, the cases that it yields for a candidate, and why they are executed."""

    name: str
    cases: Callable[[CaseDraw], Iterator[CaseMet]]
    reason: str


def _tests(draw: CaseDraw) -> Iterator[CaseMet]:
    return (draw.listed(case) for case in draw.task.tests)


def _derived(draw: CaseDraw) -> Iterator[CaseMet]:
    return (draw.listed(case) for case in draw.shapes)


def _swept(draw: CaseDraw) -> Iterator[CaseMet]:
    return (draw.listed(row.case, row.family) for row in draw.swept)


def _surveyed(draw: CaseDraw) -> Iterator[CaseMet]:
    return (draw.listed(case) for case in draw.surveyed)


def _ways(draw: CaseDraw) -> Iterator[CaseMet]:
    return (TimedCase(draw.judge, case, draw.inputs.fresh(case), draw.inputs.rng) for case in draw.ways)


def _large(draw: CaseDraw) -> Iterator[CaseMet]:
    has_parts = draw.judge.built.prepared.plans[0].has_parts and not draw.task.initials and draw.inputs.dims != ()
    for case in large_cases(draw.task, draw.inputs.rng, has_parts=has_parts):
        yield TimedCase(draw.judge, case, draw.inputs.fresh(case), draw.inputs.rng)


def _families(draw: CaseDraw) -> Iterator[CaseMet]:
    """Yield all families on the first test; where it is large, the task's own and some of the general ones."""
    secret = draw.secret(draw.first)  # the task's own families have its own tight tolerance
    general = draw.families() if draw.has_small_first else [family for _, family in draw.on_benchmarks]
    for family in dict.fromkeys((*draw.task.variant_names, *general)):
        yield draw.listed(draw.first if family in draw.task.variant_names else secret, family)


def _binades(draw: CaseDraw) -> Iterator[CaseMet]:
    """Yield a small test with the values of one input as small and as large as the task bears, and of sizes between."""
    small = draw.first if draw.has_small_first else small_cases(draw.task)[-1]
    borne = len(draw.inputs.listed.families.ranges.get(ONE_BINADE, ()))
    for seed in seeds_of_ends(borne, BETWEEN_ENDS, draw.inputs.rng) if borne else ():
        case = replace(small, name=f"{small.name} turn {seed % TURNS}", seed=seed, role="held_out")
        yield draw.listed(case, ONE_BINADE)


def _long(draw: CaseDraw) -> Iterator[CaseMet]:
    """Yield the task's own families on shapes with one long dim; orders and some general families on long lines.

    Left out where the plan launches many work-items: each of them costs as much as its work.
    """
    names, rng = draw.general_families(), draw.inputs.rng
    ordered = [name for name in names if name.removesuffix(TOGETHER) in ORDERS]
    unordered = [name for name in names if name not in ordered]
    drawn = [unordered[int(index)] for index in rng.permutation(len(unordered))[:ON_LONG]]
    for case in draw.inputs.long:
        if has_few_items(draw.judge, case):
            general = [*ordered, *drawn] if case == draw.inputs.with_long_lines else []
            for family in (*draw.task.variant_names, *general):
                yield draw.listed(case, family)


def _outliers(draw: CaseDraw) -> Iterator[CaseMet]:
    """Yield the derived shapes with the longest lines on outliers, and of the surveyed ones as many."""
    if TAILED not in draw.inputs.listed.families.names:
        return
    for derived in ([*draw.shapes, *(row.case for row in draw.swept)], draw.surveyed):
        affordable = [case for case in derived if cost(draw.task, case.dims) <= TAILED_COST]
        for case in sorted(affordable, key=lambda case: -longest_line(draw.task, case))[:MOST_TAILED]:
            yield draw.listed(draw.secret(case), TAILED)


def _relations(draw: CaseDraw) -> Iterator[CaseMet]:
    names = draw.general_families()
    largest = sorted((row.case for row in draw.swept), key=lambda case: -cost(draw.task, case.dims))
    for index, case in zip(draw.inputs.rng.permutation(len(names)), largest, strict=False):
        yield draw.listed(replace(case, seed=case.seed ^ 1), names[int(index)])


def _benchmarks(draw: CaseDraw) -> Iterator[CaseMet]:
    return (TimedCase(draw.judge, case, draw.inputs.of(case), draw.inputs.rng) for case in draw.task.benchmarks)


def _benchmark_families(draw: CaseDraw) -> Iterator[CaseMet]:
    return (FamilyCase(draw.judge, case, family, draw.inputs) for case, family in draw.on_benchmarks)


LAWS = (
    CaseLaw("tests", _tests, "the task lists them"),
    CaseLaw("derived", _derived, "blocks of a plan end raggedly on shapes that nobody listed"),
    CaseLaw("swept", _swept, "a kernel may know every shape but a few, or every size of values"),
    CaseLaw("surveyed", _surveyed, "the program itself shows on which shapes it does something else"),
    CaseLaw("ways", _ways, "a plan may launch something else where a condition on dims holds"),
    CaseLaw("large", _large, "a kernel may do something else from some size on"),
    CaseLaw("families", _families, "shortcuts are right on the values that a task draws"),
    CaseLaw("binades", _binades, "an exponent may be cut at the ends of its range"),
    CaseLaw("long", _long, "a buffer or a second turn of a loop shows on long lines alone"),
    CaseLaw("outliers", _outliers, "a sum of many values hardly shows that one is left out"),
    CaseLaw("relations", _relations, "a relation of values shows on few shapes and draws"),
    CaseLaw("benchmarks", _benchmarks, "what is timed must be right, too"),
    CaseLaw("benchmark families", _benchmark_families, "what is timed must be right on other values, too"),
)


def cases_met(judge: Judge, inputs: SessionInputs, seed: int, laws: Sequence[CaseLaw] = LAWS) -> Iterator[CaseMet]:
    """Yield the cases of each law in turn."""
    draw = CaseDraw(judge, inputs, seed)
    for law in laws:
        yield from law.cases(draw)


def refused(built: Built, target: Target, case: Case) -> tuple[Finding, ...]:
    """List the reasons not to launch this case; a plan must serve shapes that no list names, too."""
    try:
        plan = built.prepared.plan(case)
    except PlanError as error:
        return (Finding("over_limit", str(error), line=error.line, case=case.name),)
    findings = check_limits(plan, target, built.compilation.kernels)
    return tuple(replace(finding, case=case.name) for finding in findings)


def confirmed_whole(judge: Judge, plain: Built, inputs: SessionInputs) -> tuple[list[CaseResult], tuple[Finding, ...]]:
    """Execute every benchmark case, as much of it as the budget allows, and every family on one; give their rows."""
    took_s = list[float]()
    rows, findings = confirmed_rows(judge, plain, inputs, took_s)
    if findings:
        return rows, findings
    more, findings = confirmed_families(judge, plain, inputs, took_s)
    if findings:
        return [*rows, *more], findings
    searched_rows, findings = searched(judge, inputs)
    return [*rows, *more, *searched_rows], findings


def one_whole(judge: Judge, plain: Built, inputs: SessionInputs) -> tuple[CaseResult, tuple[Finding, ...]]:
    """Execute the cheapest test, whole where that fits the budget: for a candidate of which only samples were."""
    test = min(judge.task.tests, key=lambda case: cost(judge.task, case.dims))
    timed = TimedCase(judge, test, inputs.of(test), inputs.rng)
    return ConfirmedCase(timed, plain, judge.patience.confirm_s).run()
