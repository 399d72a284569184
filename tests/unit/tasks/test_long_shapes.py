from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tasks.domain import within
from tasks.gaps import COST as NARROW_COST
from tasks.held_out import SMALL, cost
from tasks.loader import load_task, task_names
from tasks.long_shapes import COST, NEARLY, equal_cases, long_cases, narrow_cases
from tasks.task import Task

SHIPPED = [load_task(name) for name in task_names()]


def lengths(task: Task, name: str) -> list[int]:
    return sorted({case.dims[name] for case in (*task.tests, *task.benchmarks)})


@pytest.mark.parametrize("task", SHIPPED, ids=task_names())
def test_all_are_new_and_affordable_and_promised(task: Task) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        long, equal = long_cases(task, rng), equal_cases(task, rng)
        assert all(cost(task, case.dims) <= COST for case in long)
        assert sum(cost(task, case.dims) for case in equal) <= SMALL
        for case in (*long, *equal):
            assert case.role == "held_out"
            assert case.name not in {each.name for each in (*task.tests, *task.benchmarks)}
            for name, value in case.dims.items():
                assert lengths(task, name)[0] <= value <= lengths(task, name)[-1]
                assert value % task.multiples.get(name, 1) == 0


@pytest.mark.parametrize(("name", "dim"), [("moe_ffn", "tokens"), ("top_k", "cols")])
def test_a_dim_is_once_as_long_as_listed_where_that_is_affordable(name: str, dim: str) -> None:
    task = load_task(name)
    cases = long_cases(task, np.random.default_rng(1))
    assert max(case.dims[dim] for case in cases) >= NEARLY * lengths(task, dim)[-1] - 1


@pytest.mark.parametrize("name", ["transpose", "moe_ffn", "conv_nhwc", "nearest_codeword"])
def test_each_pair_of_dims_is_once_equal_and_ragged(name: str) -> None:
    task = load_task(name)
    cases = equal_cases(task, np.random.default_rng(1))
    for pair in combinations(task.tests[0].dims, 2):
        assert any(case.dims[pair[0]] == case.dims[pair[1]] and case.dims[pair[0]] % 2 for case in cases)


def test_a_part_of_a_task_gets_what_it_serves() -> None:
    part = within(load_task("row_softmax"), "cols <= 2000")
    rng = np.random.default_rng(1)
    cases = (*long_cases(part, rng), *equal_cases(part, rng))
    assert cases and all(case.dims["cols"] <= 2000 for case in cases)


@pytest.mark.parametrize("name", task_names())
def test_each_dim_is_once_one_step_above_its_least_length(name: str) -> None:
    task = load_task(name)
    limit = max(NARROW_COST, min(cost(task, case.dims) for case in task.tests))
    cases, listed = narrow_cases(task, np.random.default_rng(1)), (*task.tests, *task.benchmarks)
    for case in cases:
        assert case.role == "held_out" and cost(task, case.dims) <= limit
        assert case.name not in {each.name for each in listed}
        for dim, value in case.dims.items():
            lengths = [each.dims[dim] for each in listed]
            assert min(lengths) <= value <= max(lengths) and value % task.multiples.get(dim, 1) == 0
    for dim in task.tests[0].dims:
        lengths, step = [each.dims[dim] for each in listed], task.multiples.get(dim, 1)
        affordable = {**{d: min(c.dims[d] for c in listed) for d in task.tests[0].dims}, dim: min(lengths) + step}
        if max(lengths) >= min(lengths) + 2 * step and cost(task, affordable) <= limit / 4:
            assert any(case.dims[dim] == min(lengths) + step for case in cases), dim


def test_rows_of_two_and_of_three_stand_beside_many_and_few() -> None:
    cases = narrow_cases(load_task("bias_gelu"), np.random.default_rng(1))
    assert [(case.dims["rows"] < 4, case.dims["cols"]) for case in cases][1:] == [(False, 2), (True, 3)]


def test_a_part_of_a_task_keeps_its_condition_beside_the_least_lengths() -> None:
    part = within(load_task("row_softmax"), "cols >= 64")
    assert all(case.dims["cols"] >= 64 for case in narrow_cases(part, np.random.default_rng(1)))
