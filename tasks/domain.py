"""The shapes that a kernel serves: conditions on dims, the part of a task that meets them, and shapes on their edges.

A condition compares a dim, or a product of dims, with a number, or asks for a multiple of one: `cols <= 1024`,
`rows * cols % 4 == 0`; several are joined by `and`. A part of a task has its own digest, so that nothing that is known
of one is taken for the other.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from records.errors import PlanError
from tasks.expressions import evaluate
from tasks.manifest import INT32, case_name, derived_seed
from tasks.task import Case, Task

LEAST = 16  # shapes that nobody listed within a condition: fewer are a list of shapes, and no condition
DRAWS = 2000
LARGEST_STEP = 512  # of `% N == 0`
_QUANTITY = r"[A-Za-z_]\w{0,99}(?: ?\* ?[A-Za-z_]\w{0,99}){0,7}"
_ATOM = re.compile(rf"({_QUANTITY}) ?(?:(<=|>=|<|>) ?(\d{{1,15}})|% ?(\d{{1,4}}) ?== ?0)")
MOST_ATOMS = 8

Dims = dict[str, int]


@dataclass(frozen=True)
class Atom:
    """One comparison: the names whose product it bounds from below or above, or whose product has this divisor."""

    text: str
    names: tuple[str, ...]
    low: int = 1
    high: int = 2**62
    step: int = 1

    def holds(self, dims: Mapping[str, int]) -> bool:
        """Tell whether a shape meets it; PlanError where it has no value there."""
        return bool(evaluate(self.text, dims))


@lru_cache(maxsize=256)
def atoms(text: str) -> tuple[Atom, ...]:
    """Parse the comparisons of a condition, all of which must hold; PlanError for anything else."""
    comparisons = tuple(_atom(part.strip()) for part in text.split(" and "))
    if len(comparisons) > MOST_ATOMS:
        raise PlanError(f"a condition may hold {MOST_ATOMS} comparisons, and this one has {len(comparisons)}")
    return comparisons


def meets(text: str, dims: Mapping[str, int]) -> bool:
    """Tell whether a shape meets the condition; the empty condition is met by all."""
    return not text or all(atom.holds(dims) for atom in atoms(text))


def edges(task: Task, conditions: Sequence[str]) -> list[Dims]:
    """List shapes on both sides of each comparison, the other dims small: those nearest to its border."""
    shapes = dict[str, Dims]()
    for atom in (comparison for text in conditions if text for comparison in atoms(text)):
        for dims in _shapes_at_border(task, atom, conditions):
            shapes.setdefault(case_name(dims), dims)
    return list(shapes.values())


def with_edges(task: Task, shapes: Sequence[Mapping[str, int]]) -> Task:
    """Add these shapes to the held-out ones of the task."""
    listed = {case_name(dims) for dims in task.edges}
    new = [dict(dims) for dims in shapes if case_name(dims) not in listed]
    return _part(task, edges=(*task.edges, *new)) if new else task


def within(task: Task, condition: str) -> Task:
    """Take a task's part that meets a condition, with held-out shapes on its edges; PlanError where little is left.

    Tests and benchmark cases are those that meet it. Where no test does, shapes within it take their place.
    """
    if condition in task.conditions:
        return task
    names = set(task.tests[0].dims)
    for atom in atoms(condition):
        if unknown := set(atom.names) - names:
            raise PlanError(f"a condition uses the unknown name {min(unknown)!r}; known are the dims {sorted(names)}")
    benchmarks = tuple(case for case in task.benchmarks if meets(condition, case.dims))
    if not benchmarks:
        raise PlanError(f"no benchmark case of the task {task.name} meets {condition!r}, so its kernel serves none")
    tests = tuple(case for case in task.tests if meets(condition, case.dims))
    steps = dict(task.multiples)
    for atom in atoms(condition):
        if len(atom.names) == 1:
            steps[atom.names[0]] = math.lcm(steps.get(atom.names[0], 1), atom.step)
    part_edges = {case_name(dims): dims for dims in (*task.edges, *edges(task, [condition])) if meets(condition, dims)}
    part = _part(
        task,
        conditions=(*task.conditions, condition),
        benchmarks=benchmarks,
        multiples=steps,
        edges=tuple(part_edges.values()),
    )
    rows = shapes_within(part, np.random.default_rng(0), LEAST)
    if len(rows) < LEAST:
        raise PlanError(
            f"{condition!r} leaves {len(rows)} unlisted shapes between those of the task {task.name}; a kernel is "
            f"verified on shapes that nobody listed, so its condition must leave at least {LEAST}"
        )
    like = task.tests[0]
    least = [
        replace(like, name=name, dims=dims, seed=derived_seed(name)) for dims in rows[:3] if (name := case_name(dims))
    ]
    return replace(part, tests=tests or tuple(least))


def admits(task: Task, dims: Mapping[str, int]) -> bool:
    """Tell whether a shape lies in this part of the task, and has answers where they are recorded."""
    if task.golden is not None and not has_answers(task, dims):
        return False
    return all(meets(text, dims) for text in task.conditions)


def has_answers(task: Task, dims: Mapping[str, int]) -> bool:
    """Tell whether a shape has answers: the listed shapes of a task of recorded answers, and all of another."""
    return task.golden is None or any(case.dims == dims for case in (*task.tests, *task.benchmarks))


def shapes_within(task: Task, rng: np.random.Generator, count: int) -> list[Dims]:
    """List up to so many shapes that no case lists, in this part of the task and its range, the cheapest first."""
    listed = {case.name for case in (*task.tests, *task.benchmarks)}
    bases = [dict(case.dims) for case in (*task.tests, *task.benchmarks)] + [dict(dims) for dims in task.edges]
    shapes = dict[str, Dims]()
    bounds = {name: _length_range(task, name, bases) for name in bases[0]}
    products = [atom for text in task.conditions for atom in atoms(text) if atom.step > 1 and len(atom.names) > 1]
    for _ in range(DRAWS):
        base = bases[int(rng.integers(len(bases)))]
        steps = {name: task.multiples.get(name, 1) for name in base}
        for atom in products:
            name = atom.names[int(rng.integers(len(atom.names)))]
            steps[name] = math.lcm(steps[name], atom.step)
        dims = {
            name: _drawn(rng, bounds[name], steps[name], value if rng.integers(2) else None)
            for name, value in base.items()
        }
        name = case_name(dims)
        if name not in listed and name not in shapes and _is_shape(task, dims) and admits(task, dims):
            shapes[name] = dims
            if len(shapes) == 4 * count:
                break
    return sorted(shapes.values(), key=lambda dims: (sum(task.work(Case("", dims, 0))), case_name(dims)))[:count]


def _atom(text: str) -> Atom:
    match = _ATOM.fullmatch(text)
    if match is None:
        raise PlanError(
            'a condition compares a dim, or a product of dims, with a number, such as "cols <= 1024", '
            f'"rows * cols > 65536", "cols % 4 == 0" or two of them with `and`, not {text[:80]!r}'
        )
    names = tuple(part.strip() for part in match[1].split("*"))
    if match[4]:
        if not 2 <= int(match[4]) <= LARGEST_STEP:
            raise PlanError(f"a condition may ask for multiples of 2 to {LARGEST_STEP}, not of {match[4]}")
        return Atom(text, names, step=int(match[4]))
    number = int(match[3])
    match match[2]:
        case "<=":
            return Atom(text, names, high=number)
        case "<":
            return Atom(text, names, high=number - 1)
        case ">=":
            return Atom(text, names, low=number)
        case _:
            return Atom(text, names, low=number + 1)


def _shapes_at_border(task: Task, atom: Atom, conditions: Sequence[str]) -> list[Dims]:
    """List the shapes next to one comparison's border, along each of its names, that the task could have."""
    conjunctions = [atoms(text) for text in conditions if text and atom in atoms(text)]
    other_comparisons = [comparison for joined in conjunctions for comparison in joined if comparison != atom]
    shapes = [case.dims for case in (*task.tests, *task.benchmarks)]
    fitting = [dims for dims in shapes if all(comparison.holds(dims) for comparison in other_comparisons)] or shapes
    small = min(fitting, key=lambda dims: math.prod(dims.values()))
    neighbours = []
    for name in atom.names:
        step, dims = task.multiples.get(name, 1), dict(small)
        factor = math.prod(dims[other] for other in atom.names if other != name)
        if atom.step > 1:
            period = math.lcm(atom.step // math.gcd(atom.step, factor), step)
            most = max(case.dims[name] for case in (*task.tests, *task.benchmarks))
            centre = max(period, min(period * 4, most // period * period))
            values = [centre - step, centre, centre + step]
        else:
            border = atom.high if atom.high < 2**62 else atom.low - 1
            centre = border // factor // step * step
            values = [centre - step, centre, centre + step, centre + 2 * step]
        for value in values:
            moved = {**dims, name: value}
            if 0 < value <= INT32 and _is_listed_range(task, moved) and _is_shape(task, moved):
                neighbours.append(moved)
    return neighbours


def _is_listed_range(task: Task, dims: Mapping[str, int]) -> bool:
    """Tell whether no dim is longer than in any listed case: buffers beyond that were never promised."""
    cases = (*task.tests, *task.benchmarks)
    return all(value <= max(case.dims[name] for case in cases) for name, value in dims.items())


def _length_range(task: Task, name: str, bases: Sequence[Mapping[str, int]]) -> tuple[int, int]:
    """Find the lengths of a dim between those of the listed shapes that its own comparisons leave."""
    low, high = min(d[name] for d in bases), max(d[name] for d in bases)
    for atom in (comparison for text in task.conditions for comparison in atoms(text) if comparison.names == (name,)):
        low, high = max(low, atom.low), min(high, atom.high)
    return low, high


def _drawn(rng: np.random.Generator, bounds: tuple[int, int], step: int, value: int | None) -> int:
    """Draw a length in the range, a multiple of the step: near the value, or anywhere by its logarithm."""
    low, high = -(-bounds[0] // step), bounds[1] // step
    if high < low:
        return step * low  # which no condition admits
    if value is None:
        value = step * round(math.exp(rng.uniform(math.log(low), math.log(high + 1))))
    return step * min(high, max(low, round(value / step) + int(rng.integers(-1, 2))))


def _is_shape(task: Task, dims: Mapping[str, int]) -> bool:
    """Tell whether every tensor has elements."""
    try:
        return all(evaluate(extent, dims) >= 1 for spec in (*task.inputs, *task.outputs) for extent in spec.shape)
    except PlanError:
        return False


def _part(task: Task, **fields: object) -> Task:
    part = replace(task, origin=task.origin or task.digest, **fields)  # type: ignore[arg-type]
    names = [*part.conditions, *(case_name(dims) for dims in part.edges)]
    return replace(part, digest=hashlib.sha256("\0".join([part.origin, *names]).encode()).hexdigest())
