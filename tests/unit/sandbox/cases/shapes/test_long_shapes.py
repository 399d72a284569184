from __future__ import annotations

import numpy as np
import pytest

from sandbox.cases.shapes.long_shapes import COST, LARGE, LARGE_COST, NEARLY, large_cases, long_cases
from tasks.domain import within
from tasks.held_out import SMALL, cost
from tasks.loader import load_task, task_names
from tasks.task import Task

SHIPPED = [load_task(name) for name in task_names()]


def lengths(task: Task, name: str) -> list[int]:
    return sorted({case.dims[name] for case in (*task.tests, *task.benchmarks)})


@pytest.mark.parametrize("task", SHIPPED, ids=task_names())
def test_all_are_new_and_affordable_and_promised(task: Task) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        long, large, few = (
            long_cases(task, rng),
            *(large_cases(task, rng, has_parts=listed) for listed in (True, False)),
        )
        assert all(cost(task, case.dims) <= COST for case in long)
        cheapest = min(cost(task, case.dims) for case in task.benchmarks)
        assert 0 < len(large) <= LARGE and all(cost(task, case.dims) <= LARGE_COST * cheapest for case in large)
        assert all(
            cost(task, case.dims) <= max(SMALL, *(cost(task, listed.dims) for listed in task.tests)) for case in few
        )
        for case in (*long, *large, *few):
            assert case.role == "held_out"
            assert case.name not in {listed.name for listed in (*task.tests, *task.benchmarks)}
            for name, value in case.dims.items():
                assert lengths(task, name)[0] <= value <= lengths(task, name)[-1]
                assert value % task.multiples.get(name, 1) == 0


@pytest.mark.parametrize(("name", "dim"), [("moe_ffn", "tokens"), ("top_k", "cols")])
def test_a_dim_is_once_as_long_as_listed_where_that_is_affordable(name: str, dim: str) -> None:
    task = load_task(name)
    cases = long_cases(task, np.random.default_rng(1))
    assert max(case.dims[dim] for case in cases) >= NEARLY * lengths(task, dim)[-1] - 1


def test_large_cases_are_as_large_as_benchmarks_some_of_them_multiples_of_tiles_and_some_odd() -> None:
    task = load_task("bf16_gemm")
    cases = [case for seed in range(20) for case in large_cases(task, np.random.default_rng(seed), has_parts=True)]
    least = min(cost(task, case.dims) for case in task.benchmarks)
    assert np.median([cost(task, case.dims) for case in cases]) > least / 4
    for name in ("m", "n", "k"):
        steps = [case.dims[name] // task.multiples.get(name, 1) for case in cases]
        assert any(step % 2 for step in steps) and any(step % 64 == 0 for step in steps), name


def test_a_part_of_a_task_gets_what_it_serves() -> None:
    part = within(load_task("row_softmax"), "cols <= 2000")
    rng = np.random.default_rng(1)
    cases = (*long_cases(part, rng), *large_cases(part, rng, has_parts=True))
    assert cases and all(case.dims["cols"] <= 2000 for case in cases)
