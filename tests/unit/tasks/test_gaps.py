from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tasks.domain import within
from tasks.gaps import COST, MOST, WIDE, gap_cases
from tasks.held_out import cost
from tasks.loader import load_task, task_names
from tasks.task import Task

SHIPPED = [load_task(name) for name in task_names()]


def lengths(task: Task, name: str) -> list[int]:
    return sorted({case.dims[name] for case in (*task.tests, *task.benchmarks)})


@pytest.mark.parametrize("task", SHIPPED, ids=task_names())
def test_every_case_is_new_small_and_within_the_range(task: Task) -> None:
    limit = max(COST, min(cost(task, case.dims) for case in task.tests))
    for seed in range(5):
        cases = gap_cases(task, np.random.default_rng(seed))
        assert len(cases) <= MOST and len({case.name for case in cases}) == len(cases)
        assert not {case.name for case in cases} & {case.name for case in (*task.tests, *task.benchmarks)}
        for case in cases:
            assert case.role == "held_out" and cost(task, case.dims) <= limit
            for name, value in case.dims.items():
                known = lengths(task, name)
                assert known[0] <= value <= known[-1] and value % task.multiples.get(name, 1) == 0


def test_each_gap_between_listed_lengths_is_met() -> None:
    softmax = load_task("row_softmax")
    gaps = [(low, high) for low, high in pairwise(lengths(softmax, "cols")) if high > WIDE * low]
    for seed in range(10):
        drawn = [case.dims["cols"] for case in gap_cases(softmax, np.random.default_rng(seed))]
        assert sum(any(low < value < high for value in drawn) for low, high in gaps) >= len(gaps) - 1


def test_no_length_of_a_gap_is_left_out_for_ever() -> None:
    softmax = load_task("row_softmax")
    drawn = {case.dims["cols"] for seed in range(150) for case in gap_cases(softmax, np.random.default_rng(seed))}
    for low, high in ((260, 500), (500, 998), (1030, 2000), (2000, 3000), (4100, 8000), (8000, 16300)):
        assert any(low <= value <= high for value in drawn)


def test_a_part_of_a_task_gets_shapes_that_it_serves() -> None:
    part = within(load_task("row_softmax"), "cols <= 2000")
    cases = gap_cases(part, np.random.default_rng(1))
    assert cases and all(case.dims["cols"] <= 2000 for case in cases)
