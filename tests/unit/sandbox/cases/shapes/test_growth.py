from __future__ import annotations

import pytest

from sandbox.candidate.prepare import Prepared, prepare
from sandbox.cases.shapes.growth import BLOCKS, COST, plan_cases
from tasks.held_out import cost
from tasks.loader import load_task, task_names
from tasks.task import Case, Task
from tests.support.few import few

HEAD = "/*+++\n{plan}\n+++*/\n#include <hip/hip_runtime.h>\n"
ROWS = """
[[launch]]
kernel = "k"
grid = ["{grid}"]
block = ["{block}"]
args = ["x", "y", "rows", "cols"]
"""
PRODUCT = """
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 224)", "ceil_div(m, 128)"]
block = ["256"]
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]
"""


def prepare_plan(plan: str, task: Task) -> Prepared:
    prepared = prepare(HEAD.format(plan=plan.strip()), task)
    assert prepared.refusal is None, prepared.refusal
    return prepared


def rows(grid: str, block: str = "64") -> Prepared:
    return prepare_plan(ROWS.format(grid=grid, block=block), load_task("row_softmax"))


def grid(prepared: Prepared, case: Case) -> tuple[int, int, int]:
    return prepared.plan(case).launches[0].grid


@pytest.mark.parametrize("name", task_names())
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 6))])
def test_what_every_derivation_keeps(name: str, seed: int) -> None:
    task = load_task(name)
    listed = (*task.tests, *task.benchmarks)
    for path in task.seeds:
        prepared = prepare(path.read_text(encoding="utf-8"), task)
        cases = plan_cases(prepared, seed)
        assert cases == plan_cases(prepared, seed)
        assert len({case.name for case in (*cases, *task.tests)}) == len(cases) + len(task.tests)
        for case in cases:
            assert case.role == "held_out" and tuple(case.dims) == tuple(task.tests[0].dims)
            assert cost(task, case.dims) <= COST
            for dim, length in case.dims.items():
                extents = [derived_case.dims[dim] for derived_case in listed]
                assert min(extents) <= length <= max(extents) and length % task.multiples.get(dim, 1) == 0
        for dim in task.tests[0].dims:
            most = max(case.dims[dim] for case in listed)
            assert any(case.dims[dim] == most for case in (*cases, *task.tests))


@pytest.mark.parametrize("seed", few(range(20), 4))
def test_a_large_tile_gets_three_ragged_blocks_in_both_directions_at_once(seed: int) -> None:
    prepared = prepare_plan(PRODUCT, load_task("fp8_block_gemm"))
    case = plan_cases(prepared, seed)[0]
    across, down, _ = grid(prepared, case)
    assert across >= BLOCKS and down >= BLOCKS
    assert case.dims["n"] % 224 and case.dims["m"] % 128
    assert case.dims["k"] >= 128


@pytest.mark.parametrize("seed", few(range(20), 4))
@pytest.mark.parametrize(
    "extent", ["ceil_div(rows, 48)", "min(ceil_div(rows, 48), 300)", "ceil_div(rows * cols, 4096)"]
)
def test_the_last_of_the_blocks_is_not_full(extent: str, seed: int) -> None:
    prepared = rows(extent)
    first = plan_cases(prepared, seed)[0]
    assert grid(prepared, first)[0] >= BLOCKS
    if "cols" not in extent:
        assert first.dims["rows"] % 48


def test_a_loop_takes_several_turns_of_the_plans_largest_factor_and_is_no_multiple_of_it() -> None:
    for seed in range(20):
        length = plan_cases(rows("ceil_div(rows, 8)", "512"), seed)[0].dims["cols"]
        assert length > 4 * 512 and length % 2 and length % 512


def test_a_dim_that_moves_no_grid_gets_as_long_as_listed_with_the_others_small() -> None:
    prepared = rows("1")
    longest = [case.dims for case in plan_cases(prepared, 0) if case.dims["rows"] == 10007]
    assert longest and max(dims["cols"] for dims in longest) < 64


def test_small_others_lie_in_any_octave() -> None:
    prepared = rows("1")
    widths = {d["cols"] for n in range(40) for d in (c.dims for c in plan_cases(prepared, n)) if d["rows"] == 10007}
    assert any(width <= 4 for width in widths) and any(5 <= width <= 16 for width in widths) and max(widths) > 24


def test_a_round_extent_is_met_once_as_it_is_and_once_ragged() -> None:
    task = load_task("transpose")
    cases = plan_cases(prepare(task.seeds[0].read_text(encoding="utf-8"), task), 5)
    tall = [case.dims["rows"] for case in cases if case.dims["rows"] > 8000]
    assert 8192 in tall and any(length % 2 for length in tall)


def test_a_direction_each_where_all_at_once_would_cost_too_much() -> None:
    plan = PRODUCT.replace("224", "2048").replace("128", "2048")
    prepared = prepare_plan(plan, load_task("fp8_block_gemm"))
    grids = [grid(prepared, case) for case in plan_cases(prepared, 1)]
    assert any(across >= BLOCKS for across, _, _ in grids)
    assert any(down >= BLOCKS for _, down, _ in grids)


def test_other_seeds_draw_other_shapes() -> None:
    assert len({plan_cases(rows("ceil_div(rows, 64)"), seed)[0].name for seed in range(10)}) > 5
