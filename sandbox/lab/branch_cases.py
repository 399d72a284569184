"""Shapes for the ways of a kernel that no case takes: what it decides by its arguments alone, by whatever arithmetic.

`build/decisions.py` has read from the program what each launch computes of its arguments, its grid and its block. For
the cases that are known, and for thousands of other shapes of the task, it is computed which blocks are reached and
which comparisons hold. A shape that goes where no case has gone becomes a case.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from records.errors import PlanError
from sandbox.candidate.arguments import ScalarArg, split_type
from sandbox.candidate.many_shapes import Columns, shapes
from sandbox.candidate.plan import Launch
from sandbox.candidate.resolve import ResolvedLaunch
from sandbox.lab.build.decisions import Steps
from sandbox.lab.decided import Decided, Flags
from sandbox.lab.decided_values import Values
from sandbox.lab.lab_verify import Built
from tasks.domain import admits
from tasks.expressions import evaluate, names_in
from tasks.held_out import SMALL, cost
from tasks.long_shapes import COST as LONG_COST
from tasks.manifest import case_name
from tasks.task import Case, Task

COUNT = 8  # cases of a candidate
AGAIN, RARE = 3, 1 / 16  # more of them, for ways that fewer shapes go than this share and one known case
DRAWN_OF = 160  # of the shapes that go new ways, of which the one with the largest outputs is taken
MOST_COST = 4 * SMALL  # operations plus bytes of one: few candidates get any
WITH_FAMILIES, DRAWN = 2, 400  # cases that families meet, and the shapes of which they are the largest
MOST_VALUES = 8_000_000  # that are computed at once; of longer programs fewer shapes are
MOST_TEXT = 1_500_000  # characters of expressions that are evaluated for a launch
MOST_TURNS = 64  # launches of a case that one launch of the plan becomes
_KINDS = {"integer": 1, "real": 2}


def branch_cases(built: Built, rng_seed: int, known: Collection[Case]) -> tuple[Case, ...]:
    """Cases that go ways which no known case goes; the same arguments give the same cases."""
    rng = np.random.default_rng([rng_seed, int(built.prepared.task.digest[:12], 16), 7])
    columns, both = _ways(built, known, rng)
    if not both:
        return ()
    names, found = {case.name for case in known}, list[Case]()
    for rows, most in (
        (np.concatenate([new for new, _ in both]), COUNT),
        (np.concatenate([r for _, r in both]), AGAIN),
    ):
        found += _chosen(built, rows[rows.any(axis=1)], columns, rng, names, most)
        names |= {case.name for case in found}
    return tuple(found)


def branch_family_cases(built: Built, rng: np.random.Generator) -> tuple[Case, ...]:
    """Cases for ways that no benchmark goes, larger than those that families of inputs meet anyway.

    A count that wraps in a loop that is long only where another dim is little does so on few inputs.
    """
    task = built.prepared.task
    columns, both = _ways(built, task.benchmarks, rng)
    ways = np.concatenate([new for new, _ in both]) if both else np.zeros((0, 0), bool)
    drawn = rng.permutation(np.flatnonzero(ways.any(axis=0)))[:DRAWN]
    spent = np.array([cost(task, _dims(columns, at)) for at in drawn])
    fits = np.flatnonzero((spent > LONG_COST) & (spent <= SMALL)) if drawn.size else drawn
    found = list[Case]()
    while fits.size and len(found) < WITH_FAMILIES:
        gain = ways[:, drawn[fits]].sum(axis=0)
        best = fits[max(range(fits.size), key=lambda one: (gain[one], spent[fits[one]]))]
        dims = _dims(columns, drawn[best])
        ways, fits = ways[~ways[:, drawn[best]]], fits[fits != best]
        fits = fits[ways[:, drawn[fits]].any(axis=0)]
        if _elements(built, dims, SMALL):
            found.append(_case(task, dims, rng))
    return tuple(found)


def _ways(
    built: Built, known: Collection[Case], rng: np.random.Generator
) -> tuple[Columns, list[tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]]:
    """Shapes of the task, and what `_new_ways` finds of them for each launch that decides anything."""
    prepared = built.prepared
    launches = [
        (launch, steps)
        for launch, steps in zip(prepared.candidate.plan.launches, built.program.decisions, strict=False)
        if steps
    ]
    if not launches or prepared.arms:
        return {}, []
    columns = shapes(prepared.task, rng)
    few = rng.permutation(_count(columns))[: MOST_VALUES // sum(len(steps) for _, steps in launches)]
    columns = {name: column[np.sort(few)] for name, column in columns.items()}
    return columns, [_new_ways(built, launch, steps, columns, known) for launch, steps in launches]


def _dims(columns: Columns, at: int) -> dict[str, int]:
    return {name: int(column[at]) for name, column in columns.items()}


def _case(task: Task, dims: dict[str, int], rng: np.random.Generator) -> Case:
    seed = int(rng.integers(2**32))
    return replace(task.tests[0], name=case_name(dims), dims=dims, seed=seed, weight=1.0, role="held_out")


def _new_ways(
    built: Built, launch: Launch, steps: Steps, columns: Columns, known: Collection[Case]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """A row for each way that no known case goes and some shape does, with the shapes that do; and for rare ways.

    Rare is a way that few shapes go and one known case alone: it may do no harm there, as a remainder of nothing does.
    """
    past = [one for case in known for one in _launches(built, launch, case)]
    count = _count(columns)
    if not past:
        return np.zeros((0, count), bool), np.zeros((0, count), bool)
    leaves = _Leaves(built, launch, columns, past)
    ways: Flags = Decided(len(past) + count, leaves.leaf).items(steps)
    gone, others = ways[:, : len(past)].sum(axis=1), ways[:, len(past) :]
    rare = (gone == 1) & (others.mean(axis=1) < RARE)
    return others[gone == 0], others[rare]


def _launches(built: Built, launch: Launch, case: Case) -> Sequence[ResolvedLaunch]:
    try:
        plan = built.prepared.plan(case)
    except PlanError:
        return ()  # the case itself says so
    return [one for one in plan.launches if one.line == launch.line][:MOST_TURNS]


@dataclass
class _Leaves:
    """The arguments and extents of a launch: on known cases, and behind them on the shapes of the columns."""

    built: Built
    launch: Launch
    columns: Columns
    past: Sequence[ResolvedLaunch]
    spent: int = 0  # characters of expressions

    def leaf(self, kind: str, index: int) -> Values | None:
        """Values of an argument's bits or kind, or of an extent; None where they are not numbers."""
        if kind in ("grid", "block"):
            before = [(one.grid if kind == "grid" else one.block)[index] for one in self.past]
            texts = self.launch.grid if kind == "grid" else self.launch.block
            behind = self._numbers(texts[index]) if index < len(texts) else self._filled(1)
            return None if behind is None else _joined(before, behind)
        scalars = [one.args[index] for one in self.past if index < len(one.args)]
        text = self.launch.args[index] if index < len(self.launch.args) else None
        if len(scalars) < len(self.past) or not isinstance(text, str):
            return None
        words = [arg for arg in scalars if isinstance(arg, ScalarArg)]
        if len(words) < len(scalars):
            return None
        is_real = isinstance(words[0].value, float)
        if kind == "kind":
            return np.full(len(self.past) + _count(self.columns), _KINDS["real" if is_real else "integer"], np.uint64)
        before = [_word(arg.value) for arg in words]
        if len(set(before)) == 1 and not self._depends(text):
            return _joined(before, self._filled(before[0]))
        number = None if is_real else self._numbers(split_type(text)[0])
        return None if number is None else _joined(before, number)

    def _filled(self, number: int) -> Values:
        return np.full(_count(self.columns), number % 2**64, np.uint64)

    def _depends(self, text: str) -> bool:
        return not names_in(split_type(text)[0]).isdisjoint(self.columns)

    def _numbers(self, text: str) -> Values | None:
        """The whole number that a text stands for on each shape; None where it stands for none on some."""
        if text in self.columns:
            return self.columns[text].astype(np.uint64)
        self.spent += len(text) * _count(self.columns)
        if self.spent > MOST_TEXT:
            return None
        fixed, names = dict(self.built.prepared.tunables), list(self.columns)
        try:
            found = [
                evaluate(text, {**fixed, **dict(zip(names, row, strict=True))})
                for row in zip(*(self.columns[name].tolist() for name in names), strict=True)
            ]
        except PlanError:
            return None
        return np.array(found, np.int64).view(np.uint64)


def _count(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def _joined(before: Sequence[int], behind: Values) -> Values:
    return np.concatenate([np.array([number % 2**64 for number in before], np.uint64), behind])


def _word(value: float) -> int:
    """The bits of an argument as the launch carries them: a whole number, or a double."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0]) if isinstance(value, float) else int(value)


def _chosen(
    built: Built, ways: npt.NDArray[np.bool_], columns: Columns, rng: np.random.Generator, names: set[str], most: int
) -> Iterator[Case]:
    """Cases for the shapes that go most new ways, one after the other; of some drawn, that with the largest outputs.

    A way may be open to some workgroups only: in a small shape there is none of them.
    """
    task = built.prepared.task
    limit = max(MOST_COST, min(cost(task, case.dims) for case in task.tests))
    left, is_open = most, np.ones(ways.shape[1], bool)
    while left and ways.size and (ways & is_open).any():
        gain = (ways & is_open).sum(axis=0)
        best = rng.permutation(np.flatnonzero(gain == gain.max()))[:DRAWN_OF]
        shapes_of = [_dims(columns, at) for at in best]
        sizes = [_elements(built, dims, limit) for dims in shapes_of]
        at = max(range(len(sizes)), key=lambda one: (sizes[one], cost(task, shapes_of[one])))
        is_open[best[[each == 0 for each in sizes]]] = False
        if sizes[at] == 0:
            continue
        ways, both = ways[~ways[:, best[at]]], [shapes_of[at]]
        affordable = [dims for dims, size in zip(shapes_of, sizes, strict=True) if size]
        if set(sizes) <= {0, sizes[at]}:  # of the sum of many values one that is left out does not show
            both.append(min(affordable, key=lambda dims: cost(task, dims)))
        for dims in (one for one in both[:left] if case_name(one) not in names):
            left, names = left - 1, names | {case_name(dims)}
            yield _case(task, dims, rng)


def _elements(built: Built, dims: Mapping[str, int], limit: float) -> int:
    """Elements of the outputs of a shape; 0 outside of the task's domain and where it costs too much."""
    task = built.prepared.task
    if cost(task, dims) > limit or not admits(task, dims):
        return 0
    case = replace(task.tests[0], name=case_name(dims), dims=dict(dims))
    try:
        built.prepared.plan(case)
    except PlanError:
        return 0
    return sum(prod(task.shape_of(spec, case)) for spec in task.outputs)
