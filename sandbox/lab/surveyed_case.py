"""Cases for what a kernel does on shapes that no case has: found by a survey of thousands, met by a comparison each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import prod

import numpy as np

from records.errors import PlanError
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.cases.shapes.many_shapes import shapes as many_shapes
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.lab_verify import Judge
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.shape_survey import INSTRUCTIONS, Survey, survey
from sandbox.lab.solved_shapes import solved_dims
from tasks.columns import Column
from tasks.domain import admits
from tasks.held_out import SMALL, cost
from tasks.manifest import case_name
from tasks.task import Case

SHAPES = 1300  # that are looked at, besides the known ones
SHORT = 10  # bits of the steps that a short dim is longer than its least
FIRST = 300  # of them, which show what one takes
OF_TRIED = 3_000_000  # instructions of waves, for shapes that follow from what was met
EVENTS, COUNT = 12, 14  # that are met and followed, and cases of a candidate
LITTLE = 8  # steps that a short dim is longer than its least, at most
LENGTHS = 1 << 14  # of each dim that are explored, the least ones, and as many others
EXPLORED, OF_EACH, SOLVED = 120, 2, 80  # shapes that exploring suggests: of all events, of each, by solving
FAILED = -1  # an event: bounds were not kept
MOST_COST = 4 * SMALL  # operations plus bytes of a case where no cheaper one meets the same
ENOUGH = SMALL / 4  # up to which a case shall be large: what is met may concern few workgroups, or few elements
LENGTHENED = 3  # shapes for each dim in which it is longer, and as many in which all others are

Shape = tuple[Case, ResolvedPlan]


def surveyed_cases(judge: Judge, seed: int, secret: int, known_cases: Collection[Case]) -> tuple[Case, ...]:
    """Cases that meet what no known case meets, rarest first; none where the lab cannot look at shapes."""
    lab, program, prepared = judge.lab, judge.built.program, judge.built.prepared
    if not (isinstance(lab, MachineLab) and isinstance(program, LabProgram)) or prepared.arms:
        return ()
    rng = np.random.default_rng([seed, secret, int(prepared.candidate.id[:12], 16)])
    before = _resolved(judge, _by_cost(judge, known_cases))
    names = {case.name for case in known_cases}
    if not before:
        return ()
    survey_of = partial(survey, lab, program, judge.task)
    events, suggested, coverage = _Events(judge, rng), list[Shape](), b""
    columns = _columns(judge, rng)
    for shapes, surveyed in _surveys(judge, before, names, survey_of, columns, rng, events.refused):
        events.add(surveyed, shapes)
        suggested += _resolved(judge, _suggested(judge, surveyed, columns, names, rng))
        coverage = surveyed.coverage
    tried = [*suggested, *_resolved(judge, _longer(judge, events.examples(), names, rng))]
    if tried:
        follow_up = survey_of(tried, 0, rng, coverage, OF_TRIED)
        fresh = events.add(follow_up, tried)
        if fresh and (longer := _resolved(judge, _longer(judge, fresh, names, rng))):
            events.add(survey_of(longer, 0, rng, coverage, OF_TRIED), longer)
    return tuple(events.chosen())


def _surveys(
    judge: Judge,
    before: Sequence[Shape],
    names: set[str],
    survey_of: Callable[..., Survey],
    columns: Mapping[str, Column],
    rng: np.random.Generator,
    refused: list[Case],
) -> Iterator[tuple[Sequence[Shape], Survey]]:
    """Survey a few shapes first, then as many more as can be afforded: what they cost is not known before."""
    drawn = _drawn(judge, names, rng)
    new = _resolved(judge, islice(drawn, FIRST), refused)
    if not new:
        return
    launches = judge.built.prepared.candidate.plan.launches
    first = survey_of([*before, *new], len(before), rng, b"", INSTRUCTIONS // 4, columns, launches)
    yield [*before, *new], first
    # Long shapes are left where each takes much: as many are resolved as may have their turn, and some more.
    share = min(1.0, 2 * max(0, first.surveyed - len(before)) / len(new))
    more = _resolved(judge, islice(drawn, int(share * (SHAPES - FIRST))), refused)
    if more:
        yield more, survey_of(more, 0, rng, first.coverage, INSTRUCTIONS - first.instructions)


def _drawn(judge: Judge, names: Collection[str], rng: np.random.Generator) -> Iterator[Case]:
    """Shapes of all kinds in turn with shapes whose dims are all short, each of another length."""
    columns, ranges = many_shapes(judge.task, rng), _ranges(judge)
    for row in rng.permutation(len(next(iter(columns.values())))).tolist():
        short = {
            name: min(most, least + step * int(rng.integers(1 << rng.integers(2, SHORT))))
            for name, (least, most, step) in ranges.items()
        }
        for dims in (short, {name: int(column[row]) for name, column in columns.items()}):
            case = _case(judge, dims, rng)
            if case.name not in names and admits(judge.task, dims):
                yield case


def _ranges(judge: Judge) -> dict[str, tuple[int, int, int]]:
    """Find the least and the greatest listed length of each dim, and its step."""
    listed = [case.dims for case in (*judge.task.tests, *judge.task.benchmarks)]
    return {
        name: (
            min(dims[name] for dims in listed),
            max(dims[name] for dims in listed),
            judge.task.multiples.get(name, 1),
        )
        for name in listed[0]
    }


def _case(judge: Judge, dims: dict[str, int], rng: np.random.Generator) -> Case:
    seed = int(rng.integers(2**32))
    return replace(judge.task.tests[0], name=case_name(dims), dims=dims, seed=seed, weight=1.0, role="held_out")


def _resolved(judge: Judge, cases: Iterable[Case], refused: list[Case] | None = None) -> list[Shape]:
    """Each case with its plan; `refused` gets those that the plan has no numbers for."""
    prepared, resolved = judge.built.prepared, list[Shape]()
    for case in cases:
        try:
            plan = prepared.plan(case)
        except PlanError:
            if refused is not None:
                refused.append(case)
            continue
        if not any(launch.cooperative for launch in plan.launches):
            resolved.append((case, plan))
    return resolved


class _Events:
    """Events that shapes met and no known one did, the rarest first, each with the cases of them, cheapest first."""

    def __init__(self, judge: Judge, rng: np.random.Generator) -> None:
        self._judge, self._rng = judge, rng
        self._cases = dict[int, list[Case]]()  # by event
        self._told = set[frozenset[str]]()
        self.refused = list[Case]()  # cases that the plan has no numbers for

    def add(self, surveyed: Survey, shapes: Sequence[Shape]) -> list[Case]:
        """Add what a survey found; give cases of the events that are new in it."""
        fresh = list[Case]()
        if surveyed.failed:
            self._cases[FAILED] = _by_cost(self._judge, [shapes[index][0] for index in surveyed.failed[:4]])
        for event in self._order(surveyed):
            cases = _by_cost(self._judge, [shapes[index][0] for index in surveyed.met[event].shapes])
            names = frozenset(case.name for case in cases)
            if event in self._cases:
                self._cases[event] = _by_cost(self._judge, [*self._cases[event], *cases])
            elif names not in self._told and len(fresh) < EVENTS:
                self._cases[event] = cases
                fresh += cases[:2]
            self._told.add(names)
        return fresh

    def _order(self, surveyed: Survey) -> list[int]:
        """Order the rarest first: ways two at a time, then other outcomes; values in tables last, as there are many."""
        order = sorted(surveyed.met, key=lambda event: (surveyed.met[event].count, self._rng.random()))
        branches, outcomes, words = (
            [event for event in order if surveyed.met[event].rank == rank] for rank in range(3)
        )
        turn = {event: (index // 2, 0) for index, event in enumerate(branches)} | {
            event: (index, 1) for index, event in enumerate(outcomes)
        }
        return [*sorted(turn, key=lambda event: turn[event]), *words]

    def examples(self) -> list[Case]:
        """Give two cases of each event."""
        return [case for cases in self._cases.values() for case in cases[:2]]

    def chosen(self) -> Iterator[Case]:
        """Yield for each event the largest case that costs little, then others: a sum hides one of many values."""
        task = self._judge.task
        limit = max(MOST_COST, min(cost(task, case.dims) for case in task.tests))
        # A shape that asks for no more than a listed one must have a plan.
        listed = max(cost(task, case.dims) for case in task.benchmarks)
        first = [case for case in _by_cost(self._judge, self.refused) if cost(task, case.dims) <= listed][:1]
        second = list[Case]()
        for cases in self._cases.values():
            ordered = [case for case in cases if cost(task, case.dims) <= limit]
            little = [case for case in ordered if cost(task, case.dims) <= ENOUGH]
            first += little[-1:] or ordered[:1]
            second += sorted(little[:-1], key=lambda case: -_elements(self._judge, case))[:1]
        yield from list({case.name: case for case in (*first, *second)}.values())[:COUNT]


def _by_cost(judge: Judge, cases: Iterable[Case]) -> list[Case]:
    return sorted(cases, key=lambda case: cost(judge.task, case.dims))


def _columns(judge: Judge, rng: np.random.Generator) -> dict[str, Column]:
    """Draw shapes to explore: lengths of each dim beside little ones of the others, and shapes of all kinds."""
    drawn, ranges = many_shapes(judge.task, rng), _ranges(judge)
    tables = [np.stack([*drawn.values()], axis=1)]
    for axis, (least, most, step) in enumerate(ranges.values()):
        lengths = np.arange(least, most + 1, step)
        if len(lengths) > 2 * LENGTHS:
            lengths = np.concatenate([lengths[:LENGTHS], rng.choice(lengths[LENGTHS:], LENGTHS)])
        table = np.stack([low + by * rng.integers(LITTLE, size=len(lengths)) for low, _, by in ranges.values()], axis=1)
        table[:, axis] = lengths
        tables.append(np.minimum(table, [top for _, top, _ in ranges.values()]))
    rows = rng.permutation(np.concatenate(tables))
    tunables = {name: np.full(len(rows), value) for name, value in judge.built.prepared.tunables.items()}
    return {name: rows[:, axis] for axis, name in enumerate(drawn)} | tunables


def _suggested(
    judge: Judge, surveyed: Survey, columns: Mapping[str, Column], names: Collection[str], rng: np.random.Generator
) -> Iterator[Case]:
    """Shapes on which an instruction may have an outcome that no known shape gave it, the rarest first."""
    task, used_names = judge.task, set(names)
    order = sorted(surveyed.explored, key=lambda event: (surveyed.explored[event].rank, surveyed.explored[event].count))
    rows = [row for event in order for row in surveyed.explored[event].shapes[:OF_EACH]]
    table = {name: columns[name].tolist() for name in task.tests[0].dims}

    def dims_of(row: int) -> dict[str, int]:
        return {name: column[row] for name, column in table.items()}

    samples = [[(dims_of(row), left, right) for row, left, right in sides] for sides in surveyed.compared.values()]
    for most, tried in ((EXPLORED, map(dims_of, rows)), (SOLVED, solved_dims(samples, _ranges(judge), rng))):
        fresh = 0
        for dims in tried:
            case = _case(judge, dims, rng)
            if fresh < most and case.name not in used_names and admits(task, dims):
                fresh += 1
                used_names.add(case.name)
                yield case


def _longer(judge: Judge, cases: Sequence[Case], names: set[str], rng: np.random.Generator) -> Iterator[Case]:
    """Yield the same shapes with one dim longer, and with all others longer, as far as they cost little."""
    task, used_names = judge.task, set(names)
    tops = {name: max(case.dims[name] for case in (*task.tests, *task.benchmarks)) for name in task.tests[0].dims}
    for case in cases:
        for name, other in product(tops, (False, True) if len(tops) > 2 else (False,)):
            changed = [dim for dim in tops if (dim != name) == other]
            for _ in range(LENGTHENED):
                longer = _case(judge, _stretched(judge, case.dims, changed, tops, rng), rng)
                if longer.name not in used_names and admits(task, longer.dims) and cost(task, longer.dims) <= ENOUGH:
                    used_names.add(longer.name)
                    yield longer


def _stretched(
    judge: Judge, dims: Mapping[str, int], changed: Sequence[str], tops: Mapping[str, int], rng: np.random.Generator
) -> dict[str, int]:
    stretched = dict(dims)
    for name in changed:
        step, low = judge.task.multiples.get(name, 1), dims[name]
        stretched[name] = max(low, int(low * (tops[name] / low) ** rng.random()) // step * step)
    return stretched


def _elements(judge: Judge, case: Case) -> int:
    return sum(prod(judge.task.shape_of(spec, case)) for spec in judge.task.outputs)
