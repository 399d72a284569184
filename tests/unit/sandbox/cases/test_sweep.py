"""A sweep's cases are many, new for each secret, cheap, within what is listed, and the same in any process."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from sandbox.cases.inputs.swept_values import AS_DRAWN, ONE_BINADE, ONE_SIZE, TURNS, VALUES
from sandbox.cases.sweep import MOST, SHARES, Sweep, SweptCase
from tasks.domain import within
from tasks.held_out import cost
from tasks.loader import load_task, task_names

SOFTMAX, REDUCTION = load_task("row_softmax"), load_task("reduction")


def first(sweep: Sweep, count: int) -> list[SweptCase]:
    return list(islice(sweep.cases(), count))


@pytest.mark.parametrize("name", task_names())
def test_every_case_lies_within_the_listed_range_and_the_limit(name: str) -> None:
    task = load_task(name)
    sweep = Sweep(task, 11, VALUES)
    listed = {dim: [case.dims[dim] for case in (*task.tests, *task.benchmarks)] for dim in task.tests[0].dims}
    swept = list(sweep.cases(0, 600))
    assert swept
    for row in swept:
        assert row.case.role == "held_out" and cost(task, row.case.dims) <= sweep.limit
        for dim, length in row.case.dims.items():
            assert min(listed[dim]) <= length <= max(listed[dim]) and length % task.multiples.get(dim, 1) == 0


@pytest.mark.parametrize("name", task_names())
def test_a_task_of_one_shape_has_nothing_to_sweep(name: str) -> None:
    task = load_task(name)
    test = task.tests[0]
    alone = replace(task, tests=(test,), benchmarks=(replace(test, role="benchmark"),))
    assert not list(Sweep(alone, 5, VALUES).cases(0, 100))


def test_a_secret_decides_everything() -> None:
    assert first(Sweep(SOFTMAX, 1, VALUES), 300) == first(Sweep(SOFTMAX, 1, VALUES), 300)
    mine, theirs = (first(Sweep(SOFTMAX, secret, VALUES), 300) for secret in (1, 2))
    assert not {row.case.name for row in mine[4:]} >= {row.case.name for row in theirs[4:]}
    assert not {row.case.seed for row in mine} & {row.case.seed for row in theirs}


def test_parts_of_a_sweep_are_the_whole() -> None:
    expected = {row.case.name: row for row in Sweep(SOFTMAX, 5, VALUES).cases(0, 400)}
    parts = [row for start in range(0, 400, 100) for row in Sweep(SOFTMAX, 5, VALUES).cases(start, start + 100)]
    assert {row.case.name: row for row in reversed(parts)} == expected


def test_lengths_of_each_dim_are_many_and_remainders_of_two_dims_meet() -> None:
    swept = first(Sweep(SOFTMAX, 3, VALUES), 1500)
    for dim in ("rows", "cols"):
        lengths = {row.case.dims[dim] for row in swept}
        assert len(lengths) > 400
        assert {length % 64 for length in lengths} == set(range(64))
    assert len({(row.case.dims["rows"] % 8, row.case.dims["cols"] % 8) for row in swept}) == 64


@pytest.mark.parametrize("secret", [3, 4])
def test_every_pair_of_remainders_of_two_dims_is_met(secret: int) -> None:
    swept_dims = [row.case.dims for row in first(Sweep(SOFTMAX, secret, VALUES), 2760)]
    assert len({(dims["rows"] % 32, dims["cols"] % 32) for dims in swept_dims}) == 32 * 32


def test_values_come_from_all_families_that_the_task_bears() -> None:
    families = [row.family for row in first(Sweep(SOFTMAX, 3, VALUES), 800)]
    assert {name for name in families} == set(SHARES)
    assert families.count(ONE_SIZE) > 300 and min(map(families.count, SHARES)) > 60
    assert {row.family for row in first(Sweep(SOFTMAX, 3, ()), 50)} == {AS_DRAWN}
    assert ONE_BINADE not in {row.family for row in first(Sweep(SOFTMAX, 3, (ONE_SIZE,)), 200)}


def test_cases_with_one_binade_have_their_exponents_in_turn() -> None:
    seeds = [row.case.seed for row in Sweep(REDUCTION, 3, VALUES).cases(0, 1500) if row.family == ONE_BINADE]
    turns = [seed % TURNS for seed in seeds]
    assert len(turns) > 200 and np.diff(sorted([0, *turns[:20], TURNS])).max() <= TURNS // 8
    assert np.diff(sorted([0, *turns, TURNS])).max() <= TURNS // 100


def test_dims_along_which_elements_stand_alone_have_fewer_cases() -> None:
    plain, slight = (first(Sweep(SOFTMAX, 3, (), (), names), 800) for names in ((), ("rows",)))
    assert len({row.case.dims["cols"] for row in slight}) > 1.2 * len({row.case.dims["cols"] for row in plain})
    assert len({row.case.dims["rows"] for row in slight}) > 150


def test_a_number_of_the_file_is_met_exactly() -> None:
    swept = first(Sweep(SOFTMAX, 3, (), (12_345,)), 60)
    assert {12_344, 12_345, 12_346} <= {row.case.dims["cols"] for row in swept}


def test_a_part_of_a_task_is_swept_where_it_serves() -> None:
    part = within(SOFTMAX, "cols % 4 == 0")
    swept = first(Sweep(part, 3), 200)
    assert swept and all(row.case.dims["cols"] % 4 == 0 for row in swept)


def test_a_sweep_ends() -> None:
    assert list(Sweep(SOFTMAX, 3).cases(MOST, 2 * MOST)) == []
