from __future__ import annotations

import numpy as np
import pytest

from sandbox.candidate.growth import plan_cases
from sandbox.candidate.large_shapes import ALONE, JOINT, MOST, PRODUCTS, large_cases, many_workgroups
from sandbox.candidate.prepare import Prepared, prepare
from tasks.held_out import SMALL, cost
from tasks.loader import load_task, task_names
from tests.kernels.exploits.exploits import FOLDER

SOFTMAX = """/*+++
[[launch]]
kernel = "softmax"
grid = ["rows"]
block = [64]
args = ["x", "y", "cols"]
+++*/
"""


def softmax(text: str) -> Prepared:
    return prepare(SOFTMAX + text, load_task("row_softmax"))


def drawn(prepared: Prepared, seed: int) -> list[tuple[int, int]]:
    cases = large_cases(prepared, np.random.default_rng(seed), has_parts=True)
    return [(case.dims["rows"], case.dims["cols"]) for case in cases]


NAMES = [pytest.param(name, marks=[] if name == "bf16_gemm" else [pytest.mark.long]) for name in task_names()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("has_parts", [True, False])
def test_every_case_is_new_and_within_the_listed_range(name: str, has_parts: bool) -> None:
    task = load_task(name)
    prepared = prepare(task.seeds[0].read_text(encoding="utf-8"), task)
    listed = (*task.tests, *task.benchmarks)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        cases = large_cases(prepared, rng, has_parts=has_parts)
        assert len(cases) <= JOINT + ALONE + PRODUCTS and not {case.name for case in cases} & {c.name for c in listed}
        assert len(cases) == 1 or sum(cost(task, case.dims) for case in cases) <= MOST
        for case in (*cases, *many_workgroups(prepared, task.tests, rng)):
            for dim, length in case.dims.items():
                known = [each.dims[dim] for each in listed]
                assert min(known) <= length <= max(known) and length % task.multiples.get(dim, 1) == 0
        if not has_parts:
            limit = max(SMALL, min(cost(task, case.dims) for case in task.tests))
            assert all(cost(task, case.dims) <= limit for case in cases)


def test_all_dims_are_odd_multiples_of_each_power_of_two_in_the_file() -> None:
    prepared = softmax("bool fast(int cols) { return cols % 256 == 0 && cols >= 1024; }")
    for power in (64, 256, 1024):
        met = [
            any(rows % (2 * power) == power == cols % (2 * power) for rows, cols in drawn(prepared, seed))
            for seed in range(20)
        ]
        assert sum(met) >= 15


def test_one_dim_is_odd_beside_a_benchmark() -> None:
    prepared = softmax("")
    wide = {case.dims["cols"] for case in prepared.task.benchmarks}
    for seed in range(10):
        assert any(rows % 4 and cols in wide for rows, cols in drawn(prepared, seed))


def test_a_product_lies_between_two_unusual_numbers() -> None:
    prepared = softmax("bool slow(int rows, int cols) { return rows * cols > 400000 && rows * cols < 800000; }")
    for seed in range(10):
        within = [rows * cols for rows, cols in drawn(prepared, seed) if 400_000 < rows * cols < 800_000]
        assert len(within) >= PRODUCTS


def test_an_odd_number_of_workgroups_lies_behind_a_written_one() -> None:
    folder = FOLDER / "corpus" / "C4_order_by_eights_beyond_512"
    prepared = prepare((folder / "exploit.hip").read_text(encoding="utf-8"), load_task("transpose"))
    met = (*prepared.task.tests, *plan_cases(prepared, 7))
    for seed in range(5):
        (case,) = many_workgroups(prepared, met, np.random.default_rng(seed))
        total = -(-case.dims["rows"] // 32) * -(-case.dims["cols"] // 32)
        assert 512 < total <= 640 and total % 2 == 1
        assert many_workgroups(prepared, (*met, case), np.random.default_rng(seed)) == ()
