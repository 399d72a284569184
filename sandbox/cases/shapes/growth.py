"""Held-out cases derived from a launch plan: several ragged blocks in every direction in which its grid grows.

A kernel that is right in its first block can be wrong in every other one, and the task's small cases fill no block of
a large tile. So the plan is resolved at other dims to see which of them move which extent of which grid, and shapes are
drawn that have several blocks there. A dim that moves no grid is a loop's length: it becomes several times the largest
factor of the plan. And each dim in turn is as long as in any listed case, the others small: what a kernel does only
from some size on is executed too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from records.errors import PlanError
from sandbox.candidate.prepare import Prepared
from tasks.domain import admits
from tasks.held_out import cost
from tasks.manifest import case_name
from tasks.task import Case, Task

COST = 2.0**28  # operations plus bytes of a derived case: some 400 x 700 elements of a product, 480 long
BLOCKS = 3  # the fewest in a direction: a first one, a last one and one between
SPREAD = 2  # more blocks than that, drawn
MANY = (11, 13, 9, 7)  # blocks in a direction: orders of blocks in groups of a few have a remainder there
MANY_COST = 2.0**26  # of the case that has so many
LITTLE = 48  # elements that a small dim may have beyond the least listed one
TURNS = 4  # times the largest factor of the plan that a loop's length must exceed
FACTORS = 4096  # integers in a plan above it are sizes of the task, not of a block
_INTEGER = re.compile(r"(?<!\w)\d+(?!\w)")

Dims = dict[str, int]


def plan_cases(prepared: Prepared, rng_seed: int) -> tuple[Case, ...]:
    """Cases with several ragged blocks in every direction, then cases with one long dim each; none that is listed.

    The same plan, tunables, task and seed give the same cases. No dim leaves the range of the listed cases, and no case
    costs much more than `COST`.
    """
    task = prepared.task
    rng = np.random.default_rng([rng_seed, int(task.digest[:12], 16), BLOCKS])
    shapes = _Shapes(prepared, rng)
    case_names = {case.name for case in task.tests}
    cases: list[Case] = []
    for dims in (*shapes.several_blocks(), *shapes.many_blocks(), *shapes.long_dims()):
        name = case_name(dims)
        if name not in case_names and admits(task, dims):
            case_names.add(name)
            seed = int(rng.integers(2**32))
            cases.append(replace(task.tests[0], name=name, dims=dims, seed=seed, weight=1.0, role="held_out"))
    return tuple(cases)


@dataclass(frozen=True)
class _Shapes:
    """Dims of one plan's cases; counts are in the multiples of a dim."""

    prepared: Prepared
    rng: np.random.Generator
    grids: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)  # by dims; each is resolved once

    @property
    def task(self) -> Task:
        return self.prepared.task

    def several_blocks(self) -> list[Dims]:
        """One shape with several blocks in all directions where that is affordable, else one for each direction."""
        small = {name: self._small_length(name) for name in self._names}
        moved = {name: self._moved_by(name, small) for name in self._names}
        loops = [name for name in self._names if not moved[name]]
        turns = {name: self._turns(name) for name in loops}
        for blocks in (BLOCKS + int(self.rng.integers(SPREAD)), BLOCKS):
            wide = {n: self._blocks(n, moved[n], small, blocks) if moved[n] else small[n] for n in self._names}
            long = self._affordable({**wide, **turns}, loops, small)
            if self._costs(long) <= COST:
                return [long]
        shapes = [self._affordable({**small, name: wide[name]}, [name], small) for name in self._names if moved[name]]
        return [*shapes, *(self._affordable({**small, name: turns[name]}, [name], small) for name in loops)]

    def many_blocks(self) -> list[Dims]:
        """One shape with more blocks than are done in a group, in as many directions as that is affordable."""
        least = {name: self._least_length(name) for name in self._names}
        moved = {name: self._moved_by(name, least) for name in self._names}
        growing, dims = [name for name in self._names if moved[name]], least
        for name, blocks in zip(growing, self.rng.permutation(MANY[: max(2, len(growing))]), strict=False):
            longer = {**dims, name: self._blocks(name, moved[name], least, int(blocks))}
            if self._costs(longer) <= MANY_COST:
                dims = longer
        return [dims] if growing else []

    def long_dims(self) -> list[Dims]:
        """Each dim as long as in any listed case, and where that is a round number once more beside it."""
        shapes = []
        for name in self._names:
            most, multiple = self._longest(name), self._multiple(name)
            lengths = [most]
            if most // multiple % 2 == 0:
                lengths.append(most - multiple * (1 + 2 * int(self.rng.integers(8))))
            for length in lengths:
                small = {other: self._small_length(other) for other in self._names}
                least = {other: self._least_length(other) for other in self._names}
                for short in (small, least):
                    dims = {**short, name: max(length, least[name])}
                    if self._costs(dims) <= COST:
                        break
                shapes.append(self._affordable(dims, [name], least))
        return shapes

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.task.tests[0].dims)

    def _multiple(self, name: str) -> int:
        return self.task.multiples.get(name, 1)

    def _listed_lengths(self, name: str) -> list[int]:
        edges = self.task.edges if self.task.conditions else ()  # a part of a task reaches as far as its thresholds
        return [dims[name] for dims in (*(c.dims for c in (*self.task.tests, *self.task.benchmarks)), *edges)]

    def _least_length(self, name: str) -> int:
        return min(self._listed_lengths(name))

    def _longest(self, name: str) -> int:
        return max(self._listed_lengths(name))

    def _small_length(self, name: str) -> int:
        """Little more than the smallest listed extent, in any octave, so that an output depends on where it lies."""
        multiple = self._multiple(name)
        steps = int(np.exp(self.rng.uniform(0, np.log(max(3, LITTLE // multiple))))) - int(self.rng.integers(2))
        return min(self._longest(name), self._least_length(name) + multiple * steps)

    def _costs(self, dims: Mapping[str, int]) -> float:
        return cost(self.task, dims)

    def _grids(self, dims: Mapping[str, int]) -> tuple[int, ...]:
        """Every extent of every launch; empty where the plan has no numbers, which the judge reports."""
        key = tuple(dims[name] for name in self._names)
        if key not in self.grids:
            self.grids[key] = self._resolved(dims)
        return self.grids[key]

    def _resolved(self, dims: Mapping[str, int]) -> tuple[int, ...]:
        try:
            plan = self.prepared.plan(Case("", dims, 0))
        except PlanError:
            return ()
        return tuple(extent for launch in plan.launches for extent in launch.grid)

    def _moved_by(self, name: str, small: Dims) -> tuple[int, ...]:
        """Find the extents that grow with this dim, counted over all launches."""
        low, high = (
            self._grids({**small, name: self._least_length(name)}),
            self._grids({**small, name: self._longest(name)}),
        )
        return tuple(i for i, (a, b) in enumerate(zip(low, high, strict=False)) if b > a)

    def _blocks(self, name: str, extents: tuple[int, ...], small: Dims, blocks: int) -> int:
        """Draw a length with at least `BLOCKS` blocks in each of these extents, `blocks` in the slowest to grow.

        The last of them is not full where that can be.
        """
        firsts = [(self._shortest_with_blocks(name, i, BLOCKS, small) or self._longest(name), i) for i in extents]
        length, widest = max(firsts)
        low = self._shortest_with_blocks(name, widest, blocks, small) or length
        above = self._shortest_with_blocks(name, widest, blocks + 1, small)
        multiple = self._multiple(name)
        high = min(self._longest(name), 2 * low if above is None else above - multiple)
        room = (high - low) // multiple  # a block that ends at `high` is full
        return low + multiple * int(self.rng.integers(max(1, room)))

    def _shortest_with_blocks(self, name: str, extent: int, blocks: int, small: Dims) -> int | None:
        """Find the shortest length with so many blocks; None where no listed length has them."""
        multiple, low = self._multiple(name), self._least_length(name) - 1
        high = self._longest(name)

        def has(length: int) -> bool:
            grids = self._grids({**small, name: length})
            return len(grids) > extent and grids[extent] >= blocks

        if not has(high):
            return None
        low_count, high_count = low // multiple, high // multiple
        while high_count - low_count > 1:
            middle = (low_count + high_count) // 2
            low_count, high_count = (low_count, middle) if has(middle * multiple) else (middle, high_count)
        return high_count * multiple

    def _turns(self, name: str) -> int:
        """Draw a loop's length: several turns of the largest factor, and no multiple of it."""
        multiple, factor = self._multiple(name), self._factor()
        length = factor * TURNS + 1 + int(self.rng.integers(factor * TURNS))
        count = max(1, min(self._longest(name), length) // multiple)
        return multiple * (count - 1 + count % 2 if count > 1 else count)

    def _factor(self) -> int:
        """Find the largest number by which the plan could divide: a tunable, a constant of its text, a workgroup."""
        plan = self.prepared.candidate.plan
        texts = [text for launch in plan.launches for text in (*launch.grid, *launch.block)]
        constants = [int(digits) for text in texts for digits in _INTEGER.findall(text) if len(digits) < 6]
        threads = [launch.threads for resolved in self.prepared.plans[:1] for launch in resolved.launches]
        factors = [v for v in (*constants, *threads, *self.prepared.tunables.values()) if 0 < v <= FACTORS]
        return max(factors, default=1)

    def _affordable(self, dims: Dims, shrinking: list[str], small: Dims) -> Dims:
        """Shorten these dims until the shape is affordable, or as small as they may be."""
        shortened = dict(dims)
        while self._costs(shortened) > COST:
            longer = [name for name in shrinking if shortened[name] > small[name]]
            if not longer:
                break
            name = max(longer, key=lambda n: shortened[n] / small[n])
            multiple = self._multiple(name)
            count = shortened[name] // multiple * 7 // 10
            shortened[name] = max(small[name], multiple * (count - 1 + count % 2))
        return shortened
