from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.held_out import (
    _prime,
    _ranges,
    _round,
    _step,
    affordable,
    cost,
    cost_limit,
    held_out_cases,
    past_exact_counts,
)
from tasks.loader import load_task, task_names
from tasks.task import Task

Folder = Callable[..., Path]
SHIPPED = [load_task(name) for name in task_names()]


@pytest.mark.slow
@pytest.mark.parametrize("task", SHIPPED, ids=task_names())
@settings(max_examples=40)
@given(seed=st.integers(0, 2**63))
def test_what_every_derivation_keeps(task: Task, seed: int) -> None:
    cases = held_out_cases(task, seed)
    assert cases == held_out_cases(task, seed)
    assert 2 <= len(cases) <= 4
    assert len({case.name for case in cases}) == len(cases)
    assert not {case.name for case in cases} & {case.name for case in task.tests}
    listed = {case.seed for case in task.tests + task.benchmarks}
    for case in cases:
        assert case.role == "held_out"
        assert tuple(case.dims) == tuple(task.tests[0].dims)
        assert min(case.dims.values()) >= 1
        assert cost(task, case.dims) <= cost_limit(task)
        assert case.seed not in listed
        assert all(case.dims[name] % multiple == 0 for name, multiple in task.multiples.items())
    for name in task.tests[0].dims:  # a kernel of the five nearest has never to do with four
        lengths = {case.dims[name] for case in (*task.tests, *task.benchmarks)}
        assert len(lengths) == 1 or all(min(lengths) <= case.dims[name] <= max(lengths) for case in cases)
    known = {tuple(case.dims.values()) for case in task.tests}
    assert sum(tuple(case.dims.values()) in known for case in cases) == 1


@pytest.mark.parametrize("task", SHIPPED, ids=task_names())
def test_other_seeds_give_other_inputs(task: Task) -> None:
    drawn = [case.seed for seed in range(20) for case in held_out_cases(task, seed)]
    assert len(set(drawn)) == len(drawn)


def test_primes_and_single_steps_and_round_boundaries_occur() -> None:
    task = load_task("transpose")
    steps, primes, rounds = set(), set(), set()
    for seed in range(30):
        step, prime, boundary, _ = held_out_cases(task, seed)
        steps.add(min(max(abs(step.dims[d] - test.dims[d]) for d in step.dims) for test in task.tests))
        primes |= set(prime.dims.values())
        rounds |= {min(abs(value - 2**e) for e in range(20)) for value in boundary.dims.values()}
    assert steps == {1}
    assert all(value > 1 and all(value % d for d in range(2, value)) for value in primes)
    assert rounds == {0, 1}


def test_a_task_with_one_unit_case_still_gets_cases(folder: Folder, manifest: str) -> None:
    text = manifest.replace("[[test]]\nrows = 8\ncols = 3\nseed = 11\nweight = 2.5\n", "")
    task = load_task(folder(text.replace("rows = 5\ncols = 7", "rows = 1\ncols = 1")))
    assert {case.name for case in held_out_cases(task, 3)} >= {"rows=1,cols=1 (new inputs)"}


def test_the_large_tests_are_left_out() -> None:
    task = load_task("fp8_block_gemm")
    assert [case.name for case in affordable(task)] == ["m=64,n=64,k=128"]


def test_a_case_that_ends_where_a_float_still_counts_is_an_odd_number_longer() -> None:
    task, rng = load_task("histogram"), np.random.default_rng(3)
    case = next(each for each in task.benchmarks if each.dims["n"] == 2**24)
    lengths = {past_exact_counts(task, case, rng).dims["n"] for _ in range(20)}
    assert all(2**24 < n < 2**24 + 200 and n % 2 for n in lengths) and len(lengths) > 10
    longer = past_exact_counts(task, case, rng)
    assert longer.name == f"n={longer.dims['n']},bins=256" and longer.dims["bins"] == 256
    for other in task.benchmarks:
        assert other is case or past_exact_counts(task, other, rng) is other
    beyond = replace(case, name="beyond", dims={"n": 2**25, "bins": 256})
    assert past_exact_counts(replace(task, benchmarks=(case, beyond)), case, rng) is case
    fixed = replace(task, tests=(replace(case, role="test"),), benchmarks=(case,))
    assert past_exact_counts(fixed, case, rng) is case


def drawn(move: Callable[[int, int, np.random.Generator], int], value: int, multiple: int) -> set[int]:
    rng = np.random.default_rng(7)
    return {move(value, multiple, rng) for _ in range(300)}


def next_prime(number: int) -> int:
    return next(n for n in range(max(2, number), 2 * number + 3) if all(n % d for d in range(2, n)))


@pytest.mark.parametrize("multiple", [1, 32])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 33])
def test_each_kind_of_length_is_drawn_around_the_one_that_is_known_and_keeps_its_multiple(
    count: int, multiple: int
) -> None:
    value = count * multiple
    assert drawn(_step, value, multiple) == {max(multiple, value - multiple), value + multiple}
    starts = range(count, count + count // 2 + 2)
    assert drawn(_prime, value, multiple) == {multiple * next_prime(start) for start in starts}
    power = {1: 1, 2: 2, 3: 4, 7: 8, 10: 8, 33: 32}[count]
    assert drawn(_round, value, multiple) == {multiple * max(1, power + step) for step in (-1, 0, 1)}


def test_a_length_below_its_multiple_is_rounded_as_one_step() -> None:
    assert drawn(_round, 5, 8) == {8, 16}


def test_lengths_of_which_several_are_listed_stay_between_them_and_others_are_free() -> None:
    task = load_task("histogram")
    cases = [replace(case, dims={**case.dims, "bins": 256}) for case in (*task.tests, *task.benchmarks)]
    lengths = [case.dims["n"] for case in cases]
    assert _ranges(replace(task, tests=tuple(cases), benchmarks=())) == {"n": (min(lengths), max(lengths))}
