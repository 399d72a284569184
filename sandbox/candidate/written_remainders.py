"""The remainders that a kernel file asks lengths for, and lengths that leave them.

`cols % 7 == 3` holds for one length in seven: shapes drawn without regard to it may leave it out. So lengths are drawn
for each remainder that stands beside its divisor, and for all remainders of small divisors that are no powers of two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

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
FEW = 6  # of them for numbers that stand elsewhere
COMPARED, BESIDE, ANY, ELSEWHERE = range(4)  # where the remainder of a divisor stands
LARGEST = 4096  # divisor that a name may stand for
READ = 4096  # remainders that are read, equal ones among them
SPANS = 16  # ranges of a dim at most
AROUND = 8  # numbers before and behind a divisor
LINES = 2  # behind a divisor's whose numbers may be its remainder
TRIES = 6  # lengths, each half as long, until a case is affordable
SMALL = 16  # all remainders of smaller divisors are meant
MOST = 256  # remainders of a file; further ones are not read
FEW_NUMBERS = 64  # of a file, the least, that may be one
_OF_LAUNCH = frozenset({"warpSize", "blockDim", "gridDim", "blockIdx", "threadIdx"})
_IN_PLAN = re.compile(r"(%|//)\s*(\d{1,6})(?:\s*\)*\s*(?:==|!=|<=?|>=?)\s*(\d{1,6}))?")


@dataclass(frozen=True, order=True)
class Remainder:
    """Lengths that leave `rest` when they are divided by `divisor`."""

    divisor: int
    rest: int
    place: int = COMPARED  # the next number behind the divisor, another of its line, no number, one of another line

    def holds(self, length: int) -> bool:
        """True for such a length."""
        return length % self.divisor == self.rest

    def near(self, length: int, low: int, high: int, step: int) -> int | None:
        """The next such multiple of the step within the range, above or else below the length; None without any."""
        turn, first = math.lcm(self.divisor, step), -(-length // step) * step
        above = range(first, min(first + turn, high + 1), step)
        below = range(first - step, max(first - turn, low) - 1, -step)
        return next((other for other in (*above, *below) if self.holds(other)), None)


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
        for span in _some(ranges_between(task, name, unusual), rng)
        for one in wanted
        if span[1] - span[0] >= one.divisor
    ]
    open_ = [open_[int(at)] for at in rng.permutation(len(open_))]
    names, found, left = {case.name for case in known}, list[Case](), {ELSEWHERE: FEW}
    for one, name, span in sorted(open_, key=lambda each: each[0].place):
        if len(found) == COUNT or not left.get(one.place, 1):
            break
        met = (case.dims[name] for case in (*known, *found))
        if any(span[0] <= length <= span[1] and one.holds(length) for length in met):
            continue
        dims = _dims(task, one, name, span, wanted, rng)
        if dims is not None and case_name(dims) not in names:
            names.add(case_name(dims))
            left[one.place] = left.get(one.place, COUNT) - 1
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


def _some(spans: list[Range], rng: np.random.Generator) -> list[Range]:
    return [spans[int(at)] for at in rng.permutation(len(spans))[:SPANS]]


def remainders(source: str, tunables: Mapping[str, int]) -> tuple[Remainder, ...]:
    """The remainders of lengths that a file may ask for, those first that it compares with."""
    text, values = numbered(source, tunables)
    plan = [(int(divisor), int(rest or 0), mark) for mark, divisor, rest in _IN_PLAN.findall(plan_text(source))]
    lines = (_of_line(row, text[at + 1 : at + 1 + LINES], values) for at, row in enumerate(text))
    found = list(islice(chain.from_iterable(lines), READ))
    found += [Remainder(divisor, rest) for divisor, rest, mark in plan if rest and mark == "%"]
    divisors = {one.divisor for one in found} | {divisor for divisor, _, _ in plan}
    found += [Remainder(divisor, rest, ANY) for divisor in divisors for rest in _all_of(divisor)]
    numbers = sorted(set(values.values()))[:FEW_NUMBERS]
    unusual = {divisor for divisor in divisors if divisor & (divisor - 1)}
    if any(_is_named(row, values) for row in text):
        found += islice(chain.from_iterable(_side_by_side(row, values) for row in text), READ)
        unusual |= {number for number in numbers if 2 < number <= LARGEST and number & (number - 1)}
    found += [Remainder(divisor, rest, ELSEWHERE) for divisor in sorted(unusual) for rest in numbers]
    best = dict[tuple[int, int], Remainder]()
    for one in sorted(found, key=lambda one: one.place):
        if 0 <= one.rest < one.divisor:
            best.setdefault((one.divisor, one.rest), one)
    return tuple(best.values())[:MOST]


def congruent(wanted: Collection[Remainder], length: int, ends: Range, step: int, rng: np.random.Generator) -> int:
    """A length near this one that leaves one of the remainders, drawn; the same length where none can be left."""
    order = [list(wanted)[int(at)] for at in rng.permutation(len(wanted))]
    return next((found for one in order if (found := one.near(length, *ends, step)) is not None), length)


def _of_line(row: list[Token], next_: Collection[list[Token]], values: Mapping[int, int]) -> Iterator[Remainder]:
    """Each divisor of a line with its remainder 0 and the numbers around it; of an unusual one, of the next lines."""
    places = [token.start for token in row if token.start in values]
    number_of = dict(zip(places, range(len(places)), strict=True))
    later = [values[t.start] for other in next_ for t in other[: 4 * AROUND] if t.start in values]
    for mark, after in pairwise(row):
        number = values.get(after.start)
        if number is None or mark.text not in ("%", "/", "&", "%="):
            continue
        divisor, at = number + 1 if mark.text == "&" else number, number_of[after.start]
        if divisor < 3 or (mark.text == "&" and divisor & number):
            continue
        yield Remainder(divisor, 0, ELSEWHERE)
        behind = [values[place] for place in places[at + 1 : at + 1 + AROUND]]
        before = [values[place] for place in places[max(0, at - AROUND) : at]]
        rests = dict.fromkeys((*behind, *before, *(later if divisor & (divisor - 1) else ())))
        for rest in rests if mark.text != "/" else ():
            if rest:
                yield Remainder(divisor, rest, COMPARED if behind[:1] == [rest] else BESIDE)


def _side_by_side(row: list[Token], values: Mapping[int, int]) -> Iterator[Remainder]:
    """Neighbouring numbers of a line, such as a template's arguments."""
    numbers = [values[token.start] for token in row if token.start in values]
    for one, other in pairwise(numbers):
        if 2 < max(one, other) <= LARGEST and max(one, other) & (max(one, other) - 1):
            yield Remainder(max(one, other), min(one, other), BESIDE)


def _is_named(row: list[Token], values: Mapping[int, int]) -> bool:
    """True where a name without a known value is a divisor, such as a template's parameter."""
    return any(
        mark.text in ("%", "%=") and after.kind == "name" and after.start not in values and after.text not in _OF_LAUNCH
        for mark, after in pairwise(row)
    )


def _all_of(divisor: int) -> range:
    return range(divisor) if 2 < divisor < SMALL and divisor & (divisor - 1) else range(0)
