"""The remainders that a kernel file asks lengths for, and lengths that leave them.

`cols % 7 == 3` holds for one length in seven: shapes drawn without regard to it may leave it out. So lengths are drawn
for each remainder that stands beside its divisor, and for all remainders of small divisors that are no powers of two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sandbox.candidate.pp_tokens import Token
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.written_lengths import (
    COST,
    LITTLE,
    Dims,
    Range,
    little_length,
    numbered,
    plan_text,
    ranges_between,
    written_numbers,
)
from tasks.domain import admits
from tasks.held_out import cost
from tasks.manifest import case_name
from tasks.task import Case, Task

COUNT = 16  # cases of a candidate; those for remainders that it writes come first
TRIES = 6  # lengths, each half as long, until a case is affordable
SMALL = 16  # all remainders of smaller divisors are meant
MOST = 64  # remainders of a file; further ones are not read
_IN_PLAN = re.compile(r"(%|//)\s*(\d{1,6})(?:\s*\)*\s*(?:==|!=|<=?|>=?)\s*(\d{1,6}))?")


@dataclass(frozen=True, order=True)
class Remainder:
    """Lengths that leave `rest` when they are divided by `divisor`; `is_written` where the file names both."""

    divisor: int
    rest: int
    is_written: bool = True

    def holds(self, length: int) -> bool:
        """True for such a length."""
        return length % self.divisor == self.rest

    def near(self, length: int, low: int, high: int, step: int) -> int | None:
        """The first such multiple of the step from the length on, or from the range's start; None without any."""
        turn = math.lcm(self.divisor, step)
        for start in (length, low):
            first = -(-start // step) * step
            for other in range(first, min(first + turn, high + 1), step):
                if self.holds(other):
                    return other
        return None


def remainder_cases(prepared: Prepared, rng_seed: int, known: Collection[Case]) -> tuple[Case, ...]:
    """Cases whose lengths leave remainders that no known case's do; the same arguments give the same cases.

    Each dim has one for each remainder in each range that the file's unusual numbers cut its lengths into.
    """
    wanted = remainders(prepared.source, prepared.tunables)
    if not wanted:
        return ()
    task = prepared.task
    rng = np.random.default_rng([rng_seed, int(task.digest[:12], 16), 5])
    unusual = written_numbers(prepared.source, prepared.tunables)[0]
    open_ = [
        (one, name, span)
        for name in task.tests[0].dims
        for span in ranges_between(task, name, unusual)
        for one in wanted
        if span[1] - span[0] >= one.divisor
    ]
    open_ = [open_[int(at)] for at in rng.permutation(len(open_))]
    names, found = {case.name for case in known}, list[Case]()
    for one, name, span in sorted(open_, key=lambda each: not each[0].is_written):
        if len(found) == COUNT:
            break
        met = (case.dims[name] for case in (*known, *found))
        if any(span[0] <= length <= span[1] and one.holds(length) for length in met):
            continue
        dims = _dims(task, one, name, span, wanted, rng)
        if dims is not None and case_name(dims) not in names:
            names.add(case_name(dims))
            seed = int(rng.integers(2**32))
            found.append(
                replace(task.tests[0], name=case_name(dims), dims=dims, seed=seed, weight=1.0, role="held_out")
            )
    return tuple(found)


def _dims(
    task: Task, one: Remainder, name: str, span: Range, wanted: Collection[Remainder], rng: np.random.Generator
) -> Dims | None:
    """A shape with this dim in the range, the others little and of a remainder too; None where that is too much."""
    limit, step = max(COST, min(cost(task, case.dims) for case in task.tests)), task.multiples.get(name, 1)
    others = {other: little_length(task, other, int(rng.integers(LITTLE))) for other in task.tests[0].dims}
    for other, length in others.items():
        ends = little_length(task, other, 0), little_length(task, other, 2 * LITTLE)
        others[other] = congruent(wanted, length, ends, task.multiples.get(other, 1), rng)
    least = {other: little_length(task, other, 0) for other in others}
    length = int(rng.integers(span[0], span[1] + 1))
    for _ in range(TRIES):
        at = one.near(length, *span, step)
        for dims in () if at is None else ({**others, name: at}, {**least, name: at}):
            if cost(task, dims) <= limit and admits(task, dims):
                return dims
        length = max(span[0], length // 2)
    return None


def remainders(source: str, tunables: Mapping[str, int]) -> tuple[Remainder, ...]:
    """The remainders of lengths that a file may ask for, those first that it writes."""
    text, values = numbered(source, tunables)
    found = dict.fromkeys(
        Remainder(divisor, rest, written)
        for row in text
        for divisor, others in _divisors(row, values)
        for rest, written in (*((r, True) for r in others), *((r, False) for r in _all_of(divisor)))
    )
    for mark, number, other in _IN_PLAN.findall(plan_text(source)):
        divisor = int(number)
        rests = [(int(other), True)] if other and mark == "%" else []
        found |= dict.fromkeys(Remainder(divisor, r, w) for r, w in (*rests, *((r, False) for r in _all_of(divisor))))
    kept = [one for one in found if 0 <= one.rest < one.divisor]
    written = {(one.divisor, one.rest) for one in kept if one.is_written}
    kept = [one for one in kept if one.is_written or (one.divisor, one.rest) not in written]
    return tuple(sorted(kept, key=lambda one: not one.is_written)[:MOST])


def congruent(wanted: Collection[Remainder], length: int, ends: Range, step: int, rng: np.random.Generator) -> int:
    """A length near this one that leaves one of the remainders, drawn; the same length where none can be left."""
    order = [list(wanted)[int(at)] for at in rng.permutation(len(wanted))]
    return next((found for one in order if (found := one.near(length, *ends, step)) is not None), length)


def _divisors(row: list[Token], values: Mapping[int, int]) -> Iterator[tuple[int, list[int]]]:
    """Each divisor of a line, and the other numbers of the line that may be its remainder."""
    numbers = [(token.start, values[token.start]) for token in row if token.start in values]
    for mark, after in pairwise(row):
        number = values.get(after.start)
        if number is None or mark.text not in ("%", "/", "&", "%="):
            continue
        divisor = number + 1 if mark.text == "&" else number
        if divisor < 3 or (mark.text == "&" and divisor & number):
            continue
        others = [other for at, other in numbers if at != after.start and 0 < other < divisor]
        yield divisor, others if mark.text != "/" else []


def _all_of(divisor: int) -> range:
    return range(divisor) if 2 < divisor < SMALL and divisor & (divisor - 1) else range(0)
