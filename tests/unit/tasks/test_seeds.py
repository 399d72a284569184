"""The shipped seeds as files: their plans resolve on every case there is, with every choice of tunables."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.plan import check, parse
from sandbox.resolve import choices, resolve
from tasks.held_out import held_out_cases
from tasks.loader import load_task, task_names
from tasks.task import Task

SEEDS = [(task, path) for task in map(load_task, task_names()) for path in task.seeds]
NAMES = [f"{task.name}/{path.name}" for task, path in SEEDS]


def test_each_task_has_the_seeds_it_should() -> None:
    assert NAMES == [
        "fp8_block_gemm/seed.hip", "fp8_block_gemm/seed_mfma.hip", "rms_norm/seed.hip", "rms_norm/seed_tunable.hip",
        "row_softmax/seed.hip", "row_softmax/seed_tunable.hip", "transpose/seed.hip",
    ]


@pytest.mark.parametrize(("task", "path"), SEEDS, ids=NAMES)
def test_the_plan_fits_the_task_and_covers_every_case(task: Task, path: Path) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    check(candidate, task)
    buffers = {tensor.name for tensor in task.inputs + task.outputs}
    assert buffers <= set(candidate.plan.launches[0].args)
    for case in (*task.tests, *task.benchmarks, *held_out_cases(task, 3)):
        for choice in choices(candidate, task):
            (launch,) = resolve(candidate, task, case, choice).launches
            assert 64 <= launch.threads <= 1024


@pytest.mark.parametrize(("task", "path"), [s for s in SEEDS if "tunable" in s[1].name])
def test_the_defaults_of_the_tunable_seeds_are_the_plain_ones(task: Task, path: Path) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    assert choices(candidate, task)[0] == candidate.defaults() == {"BLOCK": 64, "VEC": 1, "KEEP": 0}
    assert len(choices(candidate, task)) >= 90
