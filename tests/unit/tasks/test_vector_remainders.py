from __future__ import annotations

from math import prod

import numpy as np
import pytest

from tasks.domain import admits
from tasks.held_out import cost
from tasks.loader import load_task
from tasks.vector_remainders import LINES, SHORT, remainder_shapes


@pytest.mark.parametrize(("name", "dim", "each"), [("rms_norm", "cols", 8), ("row_softmax", "cols", 4)])
@pytest.mark.parametrize("seed", range(5))
def test_each_remainder_has_many_short_lines(name: str, dim: str, each: int, seed: int) -> None:
    task = load_task(name)
    made = remainder_shapes(task, (), np.random.default_rng(seed))
    mine = [case for case in made if case.dims[dim] <= SHORT * each]
    assert {case.dims[dim] % each for case in mine} == set(range(each))
    assert all(prod(task.shape_of(task.inputs[0], case)[:-1]) >= LINES * each for case in mine)
    assert all(case.role == "held_out" and admits(task, case.dims) and cost(task, case.dims) < 2**21 for case in made)


def test_what_a_known_case_shows_is_not_drawn_again() -> None:
    task, rng = load_task("row_softmax"), np.random.default_rng(0)
    made = remainder_shapes(task, (), rng)
    assert {case.dims["cols"] % 4 for case in remainder_shapes(task, made[1:], rng)} == {made[0].dims["cols"] % 4}
    assert remainder_shapes(task, made, rng) == ()


def test_lengths_in_steps_have_the_remainders_of_these_steps() -> None:
    task = load_task("bf16_gemm")  # k in steps of 32
    names = {case.name for case in remainder_shapes(task, (), np.random.default_rng(0))}
    assert all(case.dims["k"] % 32 == 0 for case in remainder_shapes(task, (), np.random.default_rng(0)))
    assert names != {case.name for case in remainder_shapes(task, (), np.random.default_rng(1))}
