"""A case with its dims shortened, for plans of which no part can be executed alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from records.errors import ReferenceTooLarge
from sandbox.lab.lab_verify import Judge, Rows
from tasks.held_out import SMALL, cost
from tasks.manifest import case_name
from tasks.task import Case, Task

SCALED = (2.0**28, 2.0**25, 2.0**22)  # operations plus bytes of a case that is executed whole; the next where time ends

SHORTER = 0.5  # of its deadline that each next one has: together they cost no more than two


def shortened(judge: Judge, run: Callable[[Judge, float], Rows], limits: Sequence[float] = SCALED) -> Rows:
    """Run under the first of falling limits; under the next where the deadline came although nothing hung."""
    for number, limit in enumerate(limits):
        judge.slow.clear()
        judge.moving.clear()
        rows = run(judge.within(SHORTER**number), limit)
        if not judge.slow and not judge.moving:
            break
    return rows


def within_memory(judge: Judge, run: Callable[[Judge, float], Rows], most: float) -> Rows:
    """Run under falling limits until the reference fits; ReferenceTooLarge where that of a small case does not."""
    try:
        return shortened(judge, lambda part, limit: run(part, min(limit, most)))
    except ReferenceTooLarge:
        if most <= SMALL:
            raise
    return within_memory(judge, run, most / 4)


def scaled(task: Task, case: Case, limit: float) -> Case:
    """Shorten all dims of the case alike until it costs no more than the limit, or to the cheapest test's dims."""
    dims = next(
        (dims for dims in _shorter(task, case) if cost(task, dims) <= limit),
        min((dict(test.dims) for test in task.tests), key=lambda dims: cost(task, dims)),
    )
    return replace(case, name=case_name(dims), dims=dims, role="held_out")


def _shorter(task: Task, case: Case) -> Iterator[dict[str, int]]:
    for share in (0.7**power for power in range(1, 64)):
        yield {
            name: max(
                min(test.dims[name] for test in task.tests),
                int(length * share) // (step := task.multiples.get(name, 1)) * step,
            )
            for name, length in case.dims.items()
        }
