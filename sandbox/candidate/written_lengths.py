"""Held-out cases derived from the numbers in a kernel file: lengths between them, and the numbers themselves.

What a kernel does from one length on, or up to one, it compares with a number, and that number stands in its text or in
its plan. So the written numbers, and what two of one line make by arithmetic, cut the lengths of each dim into ranges.
Ranges without a case get one: nearly all beside unusual numbers, a few beside others.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sandbox.candidate.pp_tokens import Token, rows, scan
from sandbox.candidate.prepare import Prepared
from tasks.domain import admits
from tasks.held_out import cost
from tasks.manifest import case_name
from tasks.task import Case, Task

COST = 2.0**21  # operations plus bytes of a case, or as much as the cheapest test where that is more
UNUSUAL = 12  # cases for numbers that few kernels have
ASKED = 12  # for what comparisons ask by a step of arithmetic, between two before at one, as for all that follow
MADE = 12  # for what unusual numbers make with any others of their line
MULTIPLES = 6  # for odd multiples of any: what a path for multiples of it leaves over
USUAL = 3  # for all: powers of two and small numbers
ROUND = 64  # a path for multiples seldom asks for more of the dims beside
LEAST_FACTOR = 16  # whose multiples are meant
MOST_NUMBERS = 512  # of a file; further ones are not read, and of those that comparisons ask for as many are drawn
SMALL = 16  # numbers below it are usual
LITTLE = 24  # steps that the other dims lie above their least length at most
SHIFTS = 32  # bits at most by which a length is moved
_COMPARES = frozenset({"<", ">", "<=", ">=", "==", "!="})
_UNDONE: Mapping[str, Callable[[int, int], int]] = {
    "/": operator.mul,
    "*": lambda bound, by: bound // max(1, by),
    "+": operator.sub,
    "-": operator.add,
    ">>": lambda bound, by: bound << min(by, SHIFTS),
    "<<": lambda bound, by: bound >> min(by, SHIFTS),
}
_PLAN = re.compile(r"/\*\+\+\+(.*?)\+\+\+\*/", re.S)
_IN_PLAN = re.compile(r"(?<![\w.])\d{1,12}(?![\w.])")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uUlLzZ]*")
_REAL = re.compile(r"(\d*\.?\d*(?:[eE][+-]?\d{1,2})?)[fFlL]?")

Dims = dict[str, int]
Range = tuple[int, int]  # both ends belong to it


def written_cases(prepared: Prepared, rng_seed: int, known: Collection[Case]) -> tuple[Case, ...]:
    """Cases in the ranges that no known case lies in; the same arguments give the same cases."""
    task = prepared.task
    rng = np.random.default_rng([rng_seed, int(task.digest[:12], 16), 3])
    unusual, made_of, written = written_numbers(prepared.source, prepared.tunables)
    asked = [*unusual, *few_of(asked_for(prepared.source, prepared.tunables), rng)]
    wants = (
        (unusual, UNUSUAL, ranges_between),
        (asked, ASKED, ranges_between),
        (made_of, MADE, ranges_between),
        (written, MULTIPLES, _multiples),
    )
    limit = max(COST, min(cost(task, case.dims) for case in task.tests))
    names = {case.name for case in known}
    lengths = {name: {case.dims[name] for case in known} for name in task.tests[0].dims}
    found = list[Case]()
    for numbers, left, spans_of in (*wants, (written, USUAL, ranges_between)):
        wanted = [(name, span) for name in lengths for span in spans_of(task, name, numbers, rng)]
        wanted = [wanted[at] for at in rng.permutation(len(wanted))]
        for name, span in sorted(wanted, key=lambda one: one[1][0] == one[1][1]):
            if not left:
                break
            if any(span[0] <= length <= span[1] for length in lengths[name]):
                continue
            dims = _dims(task, name, span, limit, rng, all_round=spans_of is _multiples)
            if dims is None or case_name(dims) in names:
                continue
            names.add(case_name(dims))
            for each, length in dims.items():
                lengths[each].add(length)
            seed = int(rng.integers(2**32))
            found.append(
                replace(task.tests[0], name=case_name(dims), dims=dims, seed=seed, weight=1.0, role="held_out")
            )
            left -= 1
    return tuple(found)


def written_numbers(source: str, tunables: Mapping[str, int]) -> tuple[list[int], list[int], list[int]]:
    """Whole numbers of a kernel file, its plan and its tunables: the unusual ones, what these make, and all."""
    text, values = numbered(source, tunables)
    lines = [[values[token.start] for token in row if token.start in values] for row in text]
    lines += [[int(digits) for digits in _IN_PLAN.findall(row)] for row in plan_text(source).split("\n")]
    lines.append(list(tunables.values()))
    written = sorted({number for line in lines for number in line})[:MOST_NUMBERS]
    unusual = [number for number in written if number > SMALL and number & (number - 1)]
    made = {value for line in lines for value in _made(line, set(unusual))}
    return unusual, sorted({*unusual, *made}), written


def asked_for(source: str, tunables: Mapping[str, int]) -> set[int]:
    """Lengths that comparisons ask for: 7200 and 7208 in `n / 8 > 900` and `900 < n / 8`, 150 in `n - 100 < 50`."""
    text, values = numbered(source, tunables)
    found = set[int]()
    for row in text:
        plain = [token for token in row if token.text not in ("(", ")")]
        for at, token in enumerate(plain):
            if token.text in _COMPARES:
                before, after = plain[max(0, at - 3) : at], plain[at + 1 : at + 4]
                found |= _undone(before, after[:1], values) | _undone(after, before[-1:], values)
    return found


def few_of(numbers: Collection[int], rng: np.random.Generator) -> list[int]:
    """As many of them as are read of a file, drawn; a file may hold ten thousand comparisons."""
    return [int(number) for number in rng.permutation(sorted(numbers))[:MOST_NUMBERS]]


def _undone(side: list[Token], other: list[Token], values: Mapping[int, int]) -> set[int]:
    """The lengths for which this side of a comparison, one step of arithmetic, comes to the number on the other one."""
    if len(side) < 3 or not other or (bound := values.get(other[0].start)) is None:
        return set()
    first, last, step = values.get(side[0].start), values.get(side[2].start), side[1].text
    by = first if last is None and step in ("*", "+") else last
    return set() if by is None or step not in _UNDONE else {_UNDONE[step](each, by) for each in (bound, bound + 1)}


def numbered(source: str, tunables: Mapping[str, int]) -> tuple[list[list[Token]], dict[int, int]]:
    """The lines of a file as tokens, and the whole numbers that tokens are or stand for, by their place."""
    text = list(rows(scan(source)))
    names = {**tunables, **_named(text)}
    return text, {t.start: number for row in text for t in row if (number := _value(t, names)) is not None}


def plan_text(source: str) -> str:
    """The text of the launch plan."""
    plan = _PLAN.search(source)
    return plan[1] if plan else ""


def _made(line: list[int], unusual: set[int]) -> Iterator[int]:
    """Numbers that an unusual one of a line makes with another of it: `cols / 4 > 100`, `cols - 100 < 50`, its root."""
    for number in dict.fromkeys(line[:16]):
        if number in unusual:
            yield math.isqrt(number)
            for other in dict.fromkeys(line[:16]):
                yield from (number * other, number + other, abs(number - other))
                if other:
                    yield number // other
                if other < SMALL:
                    yield number << other


def _named(text: list[list[Token]]) -> dict[str, int]:
    """Names that a line gives a number: `#define LOW 7200`, `constexpr int LOW = 7200`."""
    found = dict[str, int]()
    for row in text:
        for before, name, value in zip(row, row[1:], row[2:], strict=False):
            if before.text == "define" and name.kind == "name" and (number := _value(value, {})) is not None:
                found[name.text] = number
            elif name.text in ("=", "{") and before.kind == "name" and (number := _value(value, {})) is not None:
                found[before.text] = number
    return found


def _value(token: Token, names: Mapping[str, int]) -> int | None:
    """The whole number that a token of the text is, stands for, or lies above."""
    if token.kind == "name":
        return names.get(token.text)
    if token.kind != "number":
        return None
    text = token.text.replace("'", "")
    if found := _INTEGER.fullmatch(text):
        digits = found[1]
        if len(digits) > 20:
            return None
        octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
        return int(digits, 8 if octal and set(digits) <= set("01234567") else 10 if digits.isdigit() else 0)
    try:
        return int(float(found[1])) if (found := _REAL.fullmatch(text)) else None
    except (ValueError, OverflowError):
        return None


def _multiples(task: Task, name: str, numbers: Collection[int], rng: np.random.Generator) -> list[Range]:
    """One odd multiple of each number, which none of its even multiples divides, of any size that the dim has."""
    listed = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    step, found = task.multiples.get(name, 1), list[Range]()
    for number in (n for n in numbers if n >= LEAST_FACTOR and n % step == 0):
        low, high = max(1, min(listed) // number), max(listed) // number
        if low <= high:
            length = number * (int(math.exp(rng.uniform(math.log(low), math.log(high)))) | 1)
            found += [(length, length)] if min(listed) <= length <= max(listed) else []
    return found


def ranges_between(task: Task, name: str, numbers: Collection[int], _: object = None) -> list[Range]:
    """The numbers within a dim's listed lengths, each alone, and what lies between two of them."""
    listed = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    low, high, step = min(listed), max(listed), task.multiples.get(name, 1)
    inside = sorted({number for number in numbers if low < number < high})
    ends = [low, *inside, high]
    spans = [*((number, number) for number in inside), *((a + 1, b - 1) for a, b in pairwise(ends))]
    stepped = ((-(-a // step) * step, b // step * step) for a, b in spans)
    return [(a, b) for a, b in stepped if a <= b]


def _dims(
    task: Task, name: str, span: Range, limit: float, rng: np.random.Generator, *, all_round: bool
) -> Dims | None:
    """A shape with this dim in the range and the others little or least; None where that is too much.

    `all_round`: half of them have round numbers in place of the little ones, as a path may ask for several multiples.
    """
    step = task.multiples.get(name, 1)
    length = step * int(rng.integers(span[0] // step, span[1] // step + 1))
    for little in (*((0,) if all_round and rng.integers(2) else ()), LITTLE, 1):
        others = {other: little_length(task, other, int(rng.integers(little or 1))) for other in task.tests[0].dims}
        if not little:
            others = {other: _round(task, other, int(rng.integers(1, 4))) for other in others}
        dims = others | {name: length}
        if cost(task, dims) <= limit and admits(task, dims):
            return dims
    return None


def little_length(task: Task, name: str, steps: int) -> int:
    """So many steps above the dim's least listed length, within its range."""
    lengths = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    return min(max(lengths), min(lengths) + task.multiples.get(name, 1) * steps)


def _round(task: Task, name: str, times: int) -> int:
    """A few times 64, or of its least common multiple with the dim's; at most the longest listed length."""
    step = math.lcm(ROUND, task.multiples.get(name, 1))
    lengths = [case.dims[name] for case in (*task.tests, *task.benchmarks)]
    return min(max(lengths), max(min(lengths), step * times))
