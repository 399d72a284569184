"""The tuning of one source: what is searched, the finalists, and writing the winner into the file as its default.

The same search runs in the graph and in a worker, so that a worker's bundle holds what the graph will ask for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox.candidate.search import Choice, Estimate, Search

FINALISTS = 3  # tuned choices that are verified and timed in full before the default's turn
_HEADER = re.compile(r"/\*\+\+\+.*?\+\+\+\*/", re.DOTALL)


@dataclass(frozen=True)
class Tuning:
    """Search of the tunables of one source; the same values give the same estimates in the same order."""

    starts: tuple[Mapping[str, int], ...] = ()
    limit: int = 24  # estimates
    seed: int = 0


def finalists(
    choices: Sequence[Choice],
    tuning: Tuning,
    estimate: Estimate,
    unused: frozenset[str] = frozenset(),
    quantities: Sequence[Sequence[float]] = (),
    patience: int = 0,
) -> list[dict[str, int]]:
    """List the choices to judge in full, in this order until one is right: the best estimates, then the default."""
    if len(choices) <= 1 or tuning.limit < 1:
        return [dict(choices[0]) if choices else {}]
    search = Search(choices, estimate, tuning.limit, tuning.seed, unused, quantities, patience=patience)
    search.run(tuning.starts)
    ranked = search.ranked()[:FINALISTS]
    estimated = [dict(choices[index]) for index in ranked if index]
    before = ranked.index(0) if 0 in ranked else len(estimated)
    return [*estimated[:before], dict(choices[0])]


def moved_to_front(source: str, choice: Choice) -> tuple[str, frozenset[str]]:
    """Put the chosen value of each tunable first in its list; return the source and the tunables that are so now.

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
