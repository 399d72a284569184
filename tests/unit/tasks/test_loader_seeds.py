"""The shipped seeds as files: their plans resolve on every case there is, with every choice of tunables."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.candidate.fit import check
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import choices, resolve
from sandbox.target import load_target
from tasks.held_out import held_out_cases
from tasks.loader import load_task, task_names
from tasks.task import Task

TARGETS = ("mi300x", "h200")
SEEDS = [
    (task, path, target)
    for target in TARGETS
    for name in task_names()
    for task in [load_task(name, target)]
    for path in task.seeds
]
NAMES = [f"{target}/{task.name}/{path.name}" for task, path, target in SEEDS]
COMMON = [
    "rms_norm/seed.hip",
    "rms_norm/seed_tunable.hip",
    "row_softmax/seed.hip",
    "row_softmax/seed_tunable.hip",
    "transpose/seed.hip",
    "transpose/seed_tiled.hip",
]


def test_each_task_has_the_seeds_it_should() -> None:
    own = {
        "mi300x": ["seed.hip", "seed_mfma.mi300x.hip"],
        "h200": ["seed.h200.hip", "seed_mma.h200.hip", "seed_wgmma.h200.hip"],
    }
    expected = [
        f"{target}/{name}"
        for target in TARGETS
        for name in (*(f"fp8_block_gemm/{path}" for path in own[target]), *COMMON)
    ]
    assert expected == NAMES


@pytest.mark.slow
@pytest.mark.parametrize(("task", "path", "target"), SEEDS, ids=NAMES)
def test_the_plan_fits_the_task_and_covers_every_case(task: Task, path: Path, target: str) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    check(candidate, task)
    buffers = {tensor.name for tensor in task.inputs + task.outputs}
    assert buffers <= set(candidate.plan.launches[0].args)
    for case in (*task.tests, *task.benchmarks, *held_out_cases(task, 3)):
        for choice in choices(candidate, task):
            (launch,) = resolve(candidate, task, case, choice).launches
            assert 64 <= launch.threads <= 1024
            assert launch.lds_bytes <= load_target(target).limits["lds_bytes"]


@pytest.mark.parametrize(("task", "path"), [s[:2] for s in SEEDS if "tunable" in s[1].name])
def test_the_defaults_of_the_tunable_seeds_are_the_plain_ones(task: Task, path: Path) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    assert choices(candidate, task)[0] == candidate.defaults() == {"BLOCK": 64, "VEC": 1, "KEEP": 0}
    assert len(choices(candidate, task)) >= 90
