"""The kernels in examples/ that runs on an H200 ended with are right there, and still far ahead of the naive seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.gpu.gpu_pool import device_indices
from sandbox.target import load_target
from tasks.loader import load_task

EXAMPLES = Path(__file__).parents[2] / "examples"
TARGET = load_target("h200")
pytestmark = pytest.mark.skipif(not device_indices(TARGET), reason="no H200 here")


@pytest.mark.parametrize("name", ["rms_norm", "row_softmax", "fp8_block_gemm"])
def test_the_example_is_accepted_and_timed(name: str, tmp_path: Path) -> None:
    task, evaluator = load_task(name, TARGET.name), GpuEvaluator(TARGET, tmp_path, 0)
    try:
        made = evaluator.benchmark(evaluator.prepare((EXAMPLES / f"{name}_h200.hip").read_text(encoding="utf-8"), task))
    finally:
        evaluator.close()
    assert made.verdict.accepted, made.verdict.findings
    assert {m.case for m in made.measurements} == {c.name for c in task.benchmarks}
