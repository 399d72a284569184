"""A candidate prepared for every stage: read once, checked against its task once, in numbers once for each case.

Of a dispatch each arm is prepared as the candidate it is. The whole carries a refusal, so that a judge that knows of
one kernel only refuses it: `sandbox.dispatched` has each arm judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from records.computed_once import computed_once
from records.errors import PlanError
from records.evaluation import Code, Finding, Verdict
from sandbox.candidate.codes import rejected
from sandbox.candidate.dispatch import Dispatch, Variant, check_names, holds, is_dispatch, read_dispatch
from sandbox.candidate.fit import check
from sandbox.candidate.parse import normalise, parse
from sandbox.candidate.plan import Candidate, Plan
from sandbox.candidate.resolve import ResolvedPlan, choices, resolve
from sandbox.candidate.tuning import moved_to_front
from sandbox.recent import Recent
from tasks.domain import edges, meets, with_edges, within
from tasks.task import Case, Task

REMEMBERED = 32  # sources a `Preparer` keeps: an experiment and the kernels it is compared with need few


@dataclass(frozen=True)
class Arm:
    """One row of a dispatch: the kernel that serves the shapes under its condition.

    It is right for all shapes, or for those that its own plan requires, and then serves no others.
    """

    variant: Variant
    prepared: Prepared
    lines_before: int = 0  # of the file, before the kernel's first

    def serves(self, dims: Mapping[str, int]) -> bool:
        """Tell whether a shape meets the row's condition and the kernel's own."""
        return holds(self.variant, dims) and meets(self.prepared.requires, dims)

    @property
    def label(self) -> str:
        """The conditions in words."""
        requirement = f"requires {self.prepared.requires}" if self.prepared.requires else ""
        return ", ".join(condition for condition in (self.variant.when, requirement) if condition) or "otherwise"


@dataclass(frozen=True)
class Prepared:
    """One candidate with one choice of its tunables, for one task. Everything derived from it is derived once.

    A candidate that cannot be judged carries the verdict that says so and has no plans.
    """

    candidate: Candidate
    task: Task
    tunables: Mapping[str, int]  # a value for each
    refusal: Verdict | None = None
    is_unfit: bool = False  # refused whatever the tunables are
    plans: tuple[ResolvedPlan, ...] = ()  # of the tests, then of the benchmarks
    arms: tuple[Arm, ...] = ()  # of a dispatch, the last one without a condition; empty for one kernel
    _resolved: dict[tuple[object, ...], ResolvedPlan] = field(default_factory=dict, repr=False, compare=False)

    @property
    def id(self) -> str:
        """SHA-256 of the normalised source."""
        return self.candidate.id

    @property
    def source(self) -> str:
        """The normalised text."""
        return self.candidate.source

    @computed_once
    def choices(self) -> tuple[Mapping[str, int], ...]:
        """Every combination of tunables that the constraints allow on every case, the default first."""
        return choices(self.candidate, self.task)

    def plan(self, case: Case, *, is_kept: bool = True) -> ResolvedPlan:
        """Resolve the launch plan for any case of the task's dims; PlanError where it has no value.

        A plan that nobody asks for again need not be kept: a sweep has thousands of shapes.
        """
        if self.arms:
            return self.arm(case).prepared.plan(case, is_kept=is_kept)
        case_key = (*sorted(case.dims.items()), *sorted(case.scalars.items()), *case.absent)
        key = (case.name, *case_key, *sorted(self.tunables.items()))
        if (plan := self._resolved.get(key)) is None:
            plan = resolve(self.candidate, self.task, case, self.tunables)
            if is_kept:
                self._resolved[key] = plan
        return plan

    def arm(self, case: Case) -> Arm:
        """Find the arm of a dispatch that serves a case: the first one whose condition holds."""
        return next(arm for arm in self.arms if arm.serves(case.dims))

    @property
    def requires(self) -> str:
        """The condition under which a kernel is right; empty for one that is right everywhere."""
        return self.candidate.plan.requires

    def choose(self, tunables: Mapping[str, int]) -> Prepared:
        """Choose other values of the tunables for the same file; those not named take their default."""
        chosen = {**self.candidate.defaults(), **tunables}
        if chosen == dict(self.tunables):
            return self
        if self.arms:
            none = PlanError("a dispatch has no tunables of its own; give each of its variants the values it needs")
            return replace(self, tunables=chosen, arms=(), refusal=_refusal(none), is_unfit=True)
        if self.is_unfit:
            return replace(self, tunables=chosen)
        return _with_plans(replace(self, tunables=chosen, refusal=None, plans=()))

    def tuned(self, choice: Mapping[str, int]) -> Prepared:
        """Rewrite the file so that this choice is its default, and choose it."""
        source, moved = moved_to_front(self.source, choice)
        if source == self.source:
            return self.choose(choice)
        tunables = {
            name: (choice[name], *(v for v in values if v != choice[name])) if name in moved else values
            for name, values in self.candidate.plan.tunables.items()
        }
        candidate = replace(
            self.candidate, id=_digest(source), source=source, plan=replace(self.candidate.plan, tunables=tunables)
        )
        return _with_plans(
            replace(self, candidate=candidate, tunables={**candidate.defaults(), **choice}, refusal=None, plans=())
        )


def on_common_ground(first: Prepared, second: Prepared) -> tuple[Prepared, Prepared]:
    """Two kernels prepared for the benchmark cases that both serve, to be timed beside each other."""
    if first.task.digest == second.task.digest:
        return first, second
    theirs = {case.name for case in (*second.task.tests, *second.task.benchmarks)}
    tests, benchmarks = (
        tuple(case for case in cases if case.name in theirs) for cases in (first.task.tests, first.task.benchmarks)
    )
    digest = _digest(" ".join([first.task.digest, second.task.digest]))
    task = replace(first.task, benchmarks=benchmarks, digest=digest, tests=tests)
    return _with_plans(replace(first, task=task, plans=())), _with_plans(replace(second, task=task, plans=()))


def prepare(source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
    """Read a source, check it against a task, and put its plan into numbers for every listed case."""
    try:
        if is_dispatch(source):
            return dispatched(read_dispatch(source), source, task, prepare).choose(tunables or {})
        candidate = parse(source)
    except PlanError as error:
        unread = Candidate(_digest(source), source, Plan(()))
        return Prepared(unread, task, dict(tunables or {}), _refusal(error), is_unfit=True)
    prepared = Prepared(candidate, task, {**candidate.defaults(), **(tunables or {})})
    try:
        prepared = replace(prepared, task=served_part(candidate, task))
        check(candidate, prepared.task)
    except PlanError as error:
        return replace(prepared, refusal=_refusal(error), is_unfit=True)
    return _with_plans(prepared)


def served_part(candidate: Candidate, task: Task) -> Task:
    """Return the task, or the part of it that the kernel says it is right for."""
    if not candidate.plan.requires:
        return task
    try:
        return within(task, candidate.plan.requires)
    except PlanError as error:
        raise PlanError(f"requires: {error}", candidate.lines.line("", "requires")) from None


def dispatched(dispatch: Dispatch, source: str, task: Task, make: Callable[[str, Task], Prepared]) -> Prepared:
    """Prepare each arm of a dispatch, or return the refusal of the first that cannot be; PlanError for its rows."""
    check_names(dispatch, frozenset(task.tests[0].dims))
    text = normalise(source)
    unsettled = Prepared(Candidate(_digest(text), text, Plan(())), task, {}, _JUDGED_BY_ARMS)
    arms = [Arm(v, make(p.source, task).choose(v.tunables), p.lines_before) for v, p in dispatch.rows()]
    for arm in arms:
        if arm.prepared.refusal is not None:
            return replace(unsettled, refusal=shifted(arm.prepared.refusal, arm.lines_before), is_unfit=True)
    _check_last(arms)
    if any(arm.prepared.requires for arm in arms):
        arms = [
            replace(arm, prepared=settled) for arm, settled in zip(arms, _with_edges(arms, task, make), strict=True)
        ]
    settled = _with_plans(replace(unsettled, arms=tuple(arms)))
    return (
        settled if settled.plans else replace(settled, arms=(), is_unfit=True)
    )  # a condition has no value on some case


def _check_last(arms: Sequence[Arm]) -> None:
    """Refuse rows behind one that takes everything, and a last one that does not."""
    for arm in arms[:-1]:
        if not arm.variant.when and not arm.prepared.requires:
            raise PlanError(
                "every variant but the last needs a condition: its own `when`, or the `requires` of its part's plan; "
                "the last one takes the rest",
                arm.variant.line,
            )
    if arms[-1].prepared.requires:
        raise PlanError(
            f"the last variant takes the rest of the shapes, and its part {arms[-1].variant.part} is right only where "
            f"{arms[-1].prepared.requires}: put a kernel without `requires` last",
            arms[-1].variant.line,
        )


def _with_edges(arms: Sequence[Arm], task: Task, make: Callable[[str, Task], Prepared]) -> list[Prepared]:
    """Prepare the kernels of a table in which one is not right everywhere, each with cases beside the thresholds."""
    shapes = edges(task, [text for arm in arms for text in (arm.variant.when, arm.prepared.requires)])
    serving = [next(number for number, arm in enumerate(arms) if arm.serves(dims)) for dims in shapes]
    prepared = []
    for number, arm in enumerate(arms):
        arm_shapes = [dims for dims, index in zip(shapes, serving, strict=True) if index == number]
        prepared.append(make(arm.prepared.source, with_edges(task, arm_shapes)).choose(arm.prepared.tunables))
    return prepared


def shifted(verdict: Verdict, lines: int) -> Verdict:
    """Move the verdict on a part to the lines of the whole file."""
    moved = (f if f.line is None else replace(f, line=f.line + lines) for f in verdict.findings)
    return replace(verdict, findings=tuple(moved))


class Preparer:
    """Prepares each source once, whoever asks and how often. Safe for threads."""

    def __init__(self, make: Callable[[str, Task], Prepared] = prepare) -> None:
        """`make` is replaced by stand-ins whose sources are no kernels."""
        self._make = make
        self._prepared: Recent[tuple[str, str], Prepared] = Recent(REMEMBERED)

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """Prepare the candidate with this choice of tunables."""
        prepared = self._prepared.get((source, task.digest), lambda: self._make(source, task))
        return prepared.choose(tunables) if tunables else prepared


def _with_plans(prepared: Prepared) -> Prepared:
    """Resolve a plan for every listed case, or refuse the candidate with the reason why there is none."""
    task = prepared.task
    try:
        return replace(prepared, plans=tuple(prepared.plan(case) for case in (*task.tests, *task.benchmarks)))
    except PlanError as error:
        return replace(prepared, refusal=_refusal(error))


def _refusal(error: PlanError) -> Verdict:
    code: Code = "A.2" if error.fault == "form" else "A.1"
    return rejected("parse", (Finding("compile_error", str(error), line=error.line),), code)


_JUDGED_BY_ARMS = _refusal(PlanError("a dispatch is judged arm by arm, and this judge was asked for the whole of it"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
