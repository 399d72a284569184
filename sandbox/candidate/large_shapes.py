"""Held-out cases as large as the benchmarks: remainders that no benchmark has, and products between written numbers.

A path for large shapes is met by benchmarks alone, and their lengths are round or the author's: what it leaves over
shows on none of them. So other lengths of that size are drawn: odd multiples of each power of two that the kernel file
holds, in all dims at once, and one odd length beside the benchmark's others. Nor need a length decide: what a file
compares a product of dims or its number of workgroups with cuts these into ranges as well.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice, pairwise, product

import numpy as np

from records.errors import PlanError
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.candidate.written_lengths import written_numbers
from sandbox.candidate.written_remainders import ANY, ELSEWHERE, Remainder, congruent, remainders
from tasks.domain import admits
from tasks.held_out import SMALL, cost
from tasks.manifest import case_name
from tasks.task import Case, Task

FACTORS = (16, 4096)  # powers of two whose multiples a path may ask for, besides one that is less
JOINT = 5  # cases with odd multiples of one number in all dims
ALONE = 3  # cases with one odd length
LIMIT = 4.0  # times the cheapest benchmark's operations plus bytes
MOST = 2.0**35  # operations plus bytes of all of them: a share of what listed cases cost to judge
TRIES = 12  # draws until a shape costs no more
TIMES = 2  # so much shorter or longer than a benchmark's a length is at most
PRODUCTS = 2  # cases for ranges of products
RESTS = 4  # cases whose dims leave remainders that the file writes beside their divisors
TWICE = 2  # of them lie in a range beside an unusual number: its remainders are many
DRAWS = 200  # shapes from which these are chosen
TILES_COST = 2.0**30  # operations plus bytes of the case with many workgroups
MANY = 1024  # the largest number of them that is looked behind
MORE = 1.25  # times a written number of workgroups that its case has at most

Dims = dict[str, int]
Range = tuple[int, int]


def large_cases(prepared: Prepared, rng: np.random.Generator, *, has_parts: bool) -> tuple[Case, ...]:
    """Unlisted cases within the listed range of each dim; few and small where no part of one can be executed alone."""
    task = prepared.task
    joint, alone, products, rests = (JOINT, ALONE, PRODUCTS, RESTS) if has_parts else (1, 1, 1, 1)
    tests, timed = ([cost(task, case.dims) for case in cases] for cases in (task.tests, task.benchmarks))
    limit = LIMIT * min(timed) if has_parts else max(SMALL, min(tests))
    unusual, _, written = written_numbers(prepared.source, prepared.tunables)
    found = dict[str, Dims]()
    listed = {case.name for case in (*task.tests, *task.benchmarks)}
    for wanted, most in (
        (_joint(task, written, limit, rng), joint),
        (_alone(task, limit, rng), alone),
        (_products(task, unusual, limit, rng), products),
        (_of_remainders(task, remainders(prepared.source, prepared.tunables), limit, rng), rests),
    ):
        left = most
        for dims in wanted:
            name = case_name(dims)
            if left and name not in listed and name not in found and cost(task, dims) <= limit and admits(task, dims):
                found[name] = dims
                left -= 1
    return tuple(_case(task, name, dims, rng) for name, dims in _affordable(task, found, rng).items())


def _affordable(task: Task, found: Mapping[str, Dims], rng: np.random.Generator) -> dict[str, Dims]:
    """As many as cost no more than MOST together, in an order that is drawn; one of the dearest at least."""
    names = list(found)
    kept, spent = dict[str, Dims](), 0.0
    for at in rng.permutation(len(names)):
        spent += cost(task, found[names[at]])
        if kept and spent > MOST:
            break
        kept[names[at]] = found[names[at]]
    return kept


def many_workgroups(prepared: Prepared, met: Sequence[Case], rng: np.random.Generator) -> tuple[Case, ...]:
    """A case with an odd number of workgroups, a little more than the file asks for somewhere; else none.

    It is to be executed whole: that one workgroup in a thousand does another's work is in no sample.
    """
    task = prepared.task
    written = written_numbers(prepared.source, prepared.tunables)[2]
    most = max(_workgroups(plan) for plan in prepared.plans)
    known = max((total for case in met if (total := _total(prepared, case.dims)) % 2), default=0)
    wanted = [number for number in written if known <= number < min(most, MANY + 1)]
    for number in sorted(wanted, reverse=True):
        for dims in _with_workgroups(prepared, number, rng):
            return (_case(task, case_name(dims), dims, rng),)
    return ()


def _case(task: Task, name: str, dims: Dims, rng: np.random.Generator) -> Case:
    seed = int(rng.integers(2**32))
    return replace(task.tests[0], name=name, dims=dims, seed=seed, weight=1.0, role="held_out")


def _joint(task: Task, written: Sequence[int], limit: float, rng: np.random.Generator) -> Iterator[Dims]:
    """Shapes like a benchmark's with every dim an odd multiple of one number, the numbers in any order."""
    low, high = FACTORS
    powers = [n for n in written if low <= n <= high and not n & (n - 1)]
    for number in (int(rng.choice((1, 2, 4, 8))), *(int(n) for n in rng.permutation(powers))):
        yield _like(task, number, task.tests[0].dims, limit, rng)


def _alone(task: Task, limit: float, rng: np.random.Generator) -> Iterator[Dims]:
    """Benchmarks of which one dim is an odd number of its steps, or of two."""
    for at in rng.permutation(len(task.benchmarks[0].dims)):
        yield _like(task, int(rng.choice((1, 2))), [list(task.benchmarks[0].dims)[int(at)]], limit, rng)


def _like(task: Task, number: int, changed: Collection[str], limit: float, rng: np.random.Generator) -> Dims:
    """A benchmark's dims, of which those named are odd multiples of the number."""
    for _ in range(TRIES):
        base = task.benchmarks[int(rng.integers(len(task.benchmarks)))].dims
        dims = {n: _odd_multiple(task, n, v, number, rng) if n in changed else v for n, v in base.items()}
        if cost(task, dims) <= limit:
            break
    return dims


def _of_remainders(task: Task, wanted: Sequence[Remainder], limit: float, rng: np.random.Generator) -> Iterator[Dims]:
    """Benchmarks whose dims are moved to lengths near that leave written remainders, each dim one, in drawn order."""
    first = min((one.place for one in wanted), default=ELSEWHERE)
    near = [one for one in wanted if one.place == first < ANY]
    names = list(task.tests[0].dims)
    chosen = list(islice(product(near, repeat=len(names)), DRAWS)) if near else []
    for at in rng.permutation(len(chosen)):
        base, dims = _like(task, 1, (), limit, rng), dict[str, int]()
        for name, one in zip(names, chosen[int(at)], strict=True):
            dims[name] = congruent((one,), base[name], _listed(task, name), task.multiples.get(name, 1), rng)
        yield dims


def _odd_multiple(task: Task, name: str, length: int, number: int, rng: np.random.Generator) -> int:
    """A length like this that is an odd multiple of the number, or of a step where there is none."""
    step, (low, high) = task.multiples.get(name, 1), _listed(task, name)
    for unit in (math.lcm(number, step), step):
        first, last = -(-max(low, length // TIMES) // unit), min(high, length * TIMES) // unit
        if odd := range(first | 1, last + 1, 2):
            return unit * odd[int(rng.integers(len(odd)))]
    return length


def _listed(task: Task, name: str) -> Range:
    lengths = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    return min(lengths), max(lengths)


def _products(task: Task, numbers: Sequence[int], limit: float, rng: np.random.Generator) -> Iterator[Dims]:
    """Shapes in the ranges that unusual numbers leave of products of dims, those first that lie in most of them."""
    names = list(task.tests[0].dims)
    subsets = [s for size in (2, len(names)) for s in combinations(names, size) if len(names) > 1]
    missing = dict[tuple[tuple[str, ...], Range], int]()
    for subset in dict.fromkeys(subsets):
        sizes = [math.prod(case.dims[n] for n in subset) for case in (*task.tests, *task.benchmarks)]
        longest = max(high for _, high in (_listed(task, name) for name in subset))
        inside = sorted({n for n in numbers if longest < n < max(sizes)})
        spans = pairwise(inside if len(inside) > 1 else [longest, *inside, max(sizes)] if inside else ())
        missing |= {(subset, span): TWICE for span in spans if span[1] - span[0] > 1}
    if not missing:
        return
    drawn = [{name: _anywhere(task, name, rng) for name in names} for _ in range(DRAWS)]
    drawn = [dims for dims in drawn if cost(task, dims) <= limit]
    while drawn and any(missing.values()):
        within = [[key for key in missing if missing[key] and _lies_in(dims, key)] for dims in drawn]
        best = max(range(len(drawn)), key=lambda at: len(within[at]))
        if not within[best]:
            return
        for key in within[best]:
            missing[key] -= 1
        yield drawn.pop(best)


def _lies_in(dims: Dims, key: tuple[tuple[str, ...], Range]) -> bool:
    subset, (low, high) = key
    return low < math.prod(dims[name] for name in subset) < high


def _anywhere(task: Task, name: str, rng: np.random.Generator) -> int:
    """A length of the dim's range, each of its octaves as likely as another."""
    low, high, step = *_listed(task, name), task.multiples.get(name, 1)
    length = round(math.exp(rng.uniform(math.log(max(1, low)), math.log(max(1, high)))))
    return min(high, max(low, length)) // step * step or low


def _with_workgroups(prepared: Prepared, number: int, rng: np.random.Generator) -> Iterator[Dims]:
    """Benchmarks shortened until they have so many workgroups, and no more than a quarter more, an odd number of them.

    Dims that move no grid are as short as they may be.
    """
    task = prepared.task
    for at in rng.permutation(len(task.benchmarks)):
        base = task.benchmarks[int(at)].dims
        total = _total(prepared, base)
        least = {name: _listed(task, name)[0] for name in base}
        still = {n for n in base if _total(prepared, {**base, n: least[n]}) == total}
        for _ in range(DRAWS // len(task.benchmarks)):
            share = (rng.uniform(1, MORE) * number / max(1, total)) ** (1 / max(1, len(base) - len(still)))
            dims = {n: least[n] if n in still else _part(task, n, share * base[n], rng) for n in base}
            workgroups = _total(prepared, dims)
            if not number < workgroups <= MORE * number or workgroups % 2 == 0:
                continue
            if cost(task, dims) <= TILES_COST and admits(task, dims):
                yield dims


def _part(task: Task, name: str, length: float, rng: np.random.Generator) -> int:
    """About so long, within the dim's range."""
    low, high, step = *_listed(task, name), task.multiples.get(name, 1)
    return max(low, min(high, int(length * rng.uniform(0.8, 1.25)))) // step * step or low


def _total(prepared: Prepared, dims: Mapping[str, int]) -> int:
    try:
        return _workgroups(prepared.plan(Case("", dims, 0)))
    except PlanError:
        return 0


def _workgroups(plan: ResolvedPlan) -> int:
    return max(math.prod(launch.grid) for launch in plan.launches)
