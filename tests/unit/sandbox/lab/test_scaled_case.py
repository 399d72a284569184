from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from records.evaluation import CaseResult
from sandbox.lab.lab import Lab
from sandbox.lab.lab_verify import Built, Judge, Patience, Rows
from sandbox.lab.scaled_case import SCALED, scaled, shortened
from tasks import load_task
from tasks.held_out import cost


def run_tries(slow: int, moving: int) -> tuple[list[tuple[float, float]], str]:
    """Deadlines and limits of the tries where the first ones are cut so, and the row that comes of it."""
    judge = Judge(cast(Lab, None), cast(Built, None), Patience(deadline_s=8.0))
    tries: list[tuple[float, float]] = []

    def run(within: Judge, limit: float) -> Rows:
        tries.append((within.patience.deadline_s, limit))
        if len(tries) <= slow:
            within.slow.add("program")
        if len(tries) <= moving:
            within.moving.add("program")
        return CaseResult(str(len(tries)), "test", True), ()

    row, _ = shortened(judge, run)
    return tries, row.name


@pytest.mark.parametrize(("slow", "moving", "count"), [(0, 0, 1), (1, 0, 2), (0, 1, 2), (1, 2, 3), (9, 9, 3)])
def test_a_case_is_shortened_while_its_deadline_comes_without_a_hang(slow: int, moving: int, count: int) -> None:
    tries, name = run_tries(slow, moving)
    assert tries == [(8.0, SCALED[0]), (4.0, SCALED[1]), (2.0, SCALED[2])][:count]
    assert name == str(count)


def test_a_scaled_case_costs_no_more_than_its_limit() -> None:
    task = load_task("scan")
    for case in task.benchmarks:
        for limit in SCALED:
            smaller = scaled(task, replace(case, seed=5), limit)
            assert cost(task, smaller.dims) <= limit and smaller.seed == 5 and smaller.role == "held_out"
