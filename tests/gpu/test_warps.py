"""On an NVIDIA GPU: no wrong kernel for warps of 32 lanes is accepted, and every right one is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.sweeps import TARGET, judged, kernel_task, kernels
from records.errors import MachineError
from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.target import load_target

WRONG, RIGHT = list(kernels((), is_right=False)), list(kernels((), is_right=True))


@pytest.fixture(scope="module")
def evaluator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GpuEvaluator]:
    try:
        found = GpuEvaluator(load_target(TARGET), tmp_path_factory.mktemp("cache"), seed=7)
    except MachineError:
        pytest.skip("no NVIDIA GPU, or no compiler for it")
    yield found
    found.close()


@pytest.mark.parametrize(("task", "name", "source"), WRONG, ids=[f"{task}-{name}" for task, name, _ in WRONG])
def test_a_wrong_kernel_is_refused(evaluator: GpuEvaluator, task: str, name: str, source: str) -> None:
    said = judged(evaluator, kernel_task(task), name, source)
    assert not said["accepted"] and said["stage"] == "correct", said


@pytest.mark.parametrize(("task", "name", "source"), RIGHT, ids=[f"{task}-{name}" for task, name, _ in RIGHT])
def test_a_right_kernel_is_accepted(evaluator: GpuEvaluator, task: str, name: str, source: str) -> None:
    assert judged(evaluator, kernel_task(task), name, source)["accepted"]
