"""A sweep's cases are many, new for each secret, cheap, within what is listed, and the same in any process."""

from __future__ import annotations

from itertools import islice

import pytest

from tasks.domain import within
from tasks.held_out import cost
from tasks.loader import load_task, task_names
from tasks.sweep import MOST, Sweep, SweptCase
from tasks.swept_values import ALL_BINADES, AS_DRAWN, ONE_BINADE, VALUES

SOFTMAX = load_task("row_softmax")


def first(sweep: Sweep, count: int) -> list[SweptCase]:
    return list(islice(sweep.cases(), count))


@pytest.mark.parametrize("name", task_names())
def test_every_case_lies_within_the_listed_range_and_the_limit(name: str) -> None:
    task = load_task(name)
    sweep = Sweep(task, 11, VALUES)
    listed = {dim: [case.dims[dim] for case in (*task.tests, *task.benchmarks)] for dim in task.tests[0].dims}
    found = list(sweep.cases(0, 600))
    assert found
    for one in found:
        assert one.case.role == "held_out" and cost(task, one.case.dims) <= sweep.limit
        for dim, length in one.case.dims.items():
            assert min(listed[dim]) <= length <= max(listed[dim]) and length % task.multiples.get(dim, 1) == 0


def test_a_secret_decides_everything() -> None:
    assert first(Sweep(SOFTMAX, 1, VALUES), 300) == first(Sweep(SOFTMAX, 1, VALUES), 300)
    mine, theirs = (first(Sweep(SOFTMAX, secret, VALUES), 300) for secret in (1, 2))
    assert not {one.case.name for one in mine[4:]} >= {one.case.name for one in theirs[4:]}
    assert not {one.case.seed for one in mine} & {one.case.seed for one in theirs}


def test_parts_of_a_sweep_are_the_whole() -> None:
    whole = {one.case.name: one for one in Sweep(SOFTMAX, 5, VALUES).cases(0, 400)}
    parts = [one for start in range(0, 400, 100) for one in Sweep(SOFTMAX, 5, VALUES).cases(start, start + 100)]
    assert {one.case.name: one for one in reversed(parts)} == whole


def test_lengths_of_each_dim_are_many_and_remainders_of_two_dims_meet() -> None:
    found = first(Sweep(SOFTMAX, 3, VALUES), 1500)
    for dim in ("rows", "cols"):
        lengths = {one.case.dims[dim] for one in found}
        assert len(lengths) > 500
        assert {length % 64 for length in lengths} == set(range(64))
    assert len({(one.case.dims["rows"] % 8, one.case.dims["cols"] % 8) for one in found}) == 64


def test_half_of_the_values_are_as_drawn_and_the_others_of_families_that_the_task_bears() -> None:
    families = [one.family for one in first(Sweep(SOFTMAX, 3, VALUES), 400)]
    assert 0.4 < families.count(AS_DRAWN) / 400 < 0.6
    assert min(families.count(ONE_BINADE), families.count(ALL_BINADES)) > 60
    assert {one.family for one in first(Sweep(SOFTMAX, 3, ()), 50)} == {AS_DRAWN}


def test_a_number_of_the_file_is_met_exactly() -> None:
    found = first(Sweep(SOFTMAX, 3, (), (12_345,)), 60)
    assert {12_344, 12_345, 12_346} <= {one.case.dims["cols"] for one in found}


def test_a_part_of_a_task_is_swept_where_it_serves() -> None:
    part = within(SOFTMAX, "cols % 4 == 0")
    found = first(Sweep(part, 3), 200)
    assert found and all(one.case.dims["cols"] % 4 == 0 for one in found)


def test_a_sweep_ends() -> None:
    assert list(Sweep(SOFTMAX, 3).cases(MOST, 2 * MOST)) == []
