"""Search of the declared tunables by estimated time, and writing the winner into the file as its default.

The same search runs in the graph and in a worker, so that a worker's bundle holds what the graph will ask for.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Choice = Mapping[str, int]
Estimate = Callable[[Choice], float | None]

FINALISTS = 3  # tuned choices that are verified and timed in full before the default's turn
_HEADER = re.compile(r"/\*\+\+\+.*?\+\+\+\*/", re.DOTALL)


@dataclass(frozen=True)
class Tuning:
    """Search of the tunables of one source; the same values give the same estimates in the same order."""

    starts: tuple[Mapping[str, int], ...] = ()
    limit: int = 24  # estimates
    seed: int = 0


def finalists(choices: Sequence[Choice], tuning: Tuning, estimate: Estimate) -> list[dict[str, int]]:
    """The choices to judge in full, in this order until one is right: the best estimates, then the default."""
    if len(choices) <= 1 or tuning.limit < 1:
        return [dict(choices[0]) if choices else {}]
    default = choices[0]
    ranked = search(choices, tuning.starts, estimate, tuning.limit, tuning.seed)[:FINALISTS]
    others = [dict(choice) for choice in ranked if choice != default]
    before = ranked.index(default) if default in ranked else len(others)
    return [*others[:before], dict(default)]


def search(
    choices: Sequence[Choice], starts: Sequence[Choice], estimate: Estimate, limit: int, seed: int
) -> list[Choice]:
    """Rank choices by estimated time with at most `limit` estimates; fastest first, ties in the order of `choices`.

    Coordinate descent from the best of `starts` (and the default, `choices[0]`), then seeded sampling of what is left.
    Choices whose estimate is None are left out. The same arguments give the same ranking.
    """
    times: dict[int, float | None] = {}

    def visit(index: int) -> None:
        if index not in times and len(times) < limit:
            times[index] = estimate(choices[index])

    if len(choices) <= limit:
        for index in range(len(choices)):
            visit(index)
    else:
        for start in ({}, *starts):
            visit(_closest(choices, start))
        _descend(choices, times, visit)
        rest = [i for i in range(len(choices)) if i not in times]
        random.Random(seed).shuffle(rest)
        while rest and len(times) < limit:
            visit(rest.pop())
            _descend(choices, times, visit)
    return [choices[i] for i in _ranked(times)]


def _ranked(times: Mapping[int, float | None]) -> list[int]:
    return [index for _, index in sorted((time, index) for index, time in times.items() if time is not None)]


def _descend(choices: Sequence[Choice], times: Mapping[int, float | None], visit: Callable[[int], None]) -> None:
    """Visit the neighbours of the best choice until none of them is faster."""
    best: int | None = None
    while (ranked := _ranked(times)) and ranked[0] != best:
        best = ranked[0]
        for index, choice in enumerate(choices):
            if sum(choice[name] != value for name, value in choices[best].items()) == 1:
                visit(index)


def _closest(choices: Sequence[Choice], wanted: Choice) -> int:
    """The first choice that agrees with `wanted` in most names; the default for an empty wish."""
    return max(range(len(choices)), key=lambda i: (sum(choices[i].get(n) == v for n, v in wanted.items()), -i))


def moved_to_front(source: str, choice: Choice) -> tuple[str, frozenset[str]]:
    """The source with the chosen value of each tunable first in its list, and the tunables that are so now.

    So the file alone gives the tuned kernel.
    """
    header = _HEADER.search(source)
    text = header.group() if header else ""
    start = text.find("[tunables]")
    if header is None or start < 0:
        return source, frozenset()
    end = re.search(r"^[ \t]*\[", text[start + 1 :], re.MULTILINE)
    stop = start + 1 + end.start() if end else len(text)
    table, moved = text[start:stop], set()
    for name, value in choice.items():
        line = re.search(rf"^([ \t]*{re.escape(name)}[ \t]*=[ \t]*)\[([^\]]*)\]", table, re.MULTILINE)
        values = _values(line[2]) if line else []
        if line is not None and value in values:
            front = ", ".join(str(n) for n in (value, *(n for n in values if n != value)))
            front += "\n" * line[2].count("\n")  # every line of the file keeps its number
            table = f"{table[: line.start()]}{line[1]}[{front}]{table[line.end() :]}"
            moved.add(name)
    tuned = source[: header.start()] + text[:start] + table + text[stop:] + source[header.end() :]
    return tuned, frozenset(moved)


def _values(listed: str) -> list[int]:
    return [int(v, 0) for v in re.sub(r"#.*", "", listed).replace("_", "").split(",") if v.strip()]
