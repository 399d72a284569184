"""The turns of a plan's loops: its launches in the order in which they run on one case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from records.errors import PlanError
from sandbox.candidate.plan import Launch
from tasks.expressions import evaluate

MAX_TURNS = 4096  # of one loop


def turns(
    launches: Sequence[Launch], names: Mapping[str, int], depth: int = 0
) -> Iterator[tuple[Launch, dict[str, int]]]:
    """Each launch with the integers that it may name; those whose condition does not hold are left out.

    Launches beside each other that have the same loop are its body. PlanError for a loop that is too long.
    """
    for number, group in groupby(launches, lambda x: x.loops[depth].number if len(x.loops) > depth else 0):
        body = list(group)
        if not number:
            for launch in body:
                if not launch.when or evaluate(launch.when, names):
                    yield launch, dict(names)
            continue
        loop, line = body[0].loops[depth], body[0].line
        start, stop, step = (evaluate(text, names) for text in (loop.start, loop.stop, loop.step))
        if not step or len(range(start, stop, step)) > MAX_TURNS:
            raise PlanError(f"the loop over {loop.name} steps by 0 or has more than {MAX_TURNS} turns", line)
        for value in range(start, stop, step):
            yield from turns(body, {**names, loop.name: value}, depth + 1)
