from __future__ import annotations

from dataclasses import replace

import pytest

from app.mcp.kernel_calls import KernelRequest, contrast, verdict_of
from app.mcp.tool_results import KernelVerdict
from app.settings import load_settings
from records.evaluation import Evaluation
from tasks.loader import load_task
from tests.support.specimens import evidence

TASK = load_task("row_softmax")


def predicted(factor: float, error: float) -> Evaluation:
    evaluation = evidence(TASK, "hbm")
    rows = tuple(replace(m, time_us=factor * m.time_us, error=error, bound_us=40.0) for m in evaluation.measurements)
    return replace(evaluation, measurements=rows)


@pytest.mark.parametrize(
    ("factor", "error", "expected"),
    [(0.95, 0.0, "faster"), (0.95, 0.08, "same"), (0.9, 0.08, "faster"), (1.05, 0.08, "same"), (1.1, 0.08, "slower")],
)
def test_predicted_kernels_within_their_error_are_the_same(factor: float, error: float, expected: str) -> None:
    sides = KernelRequest("", "row_softmax"), KernelRequest("", "row_softmax")
    assert contrast(load_settings(), *sides, predicted(1.0, error), predicted(factor, error)) == expected


def test_a_verdict_tells_the_bound_beside_the_expected_time() -> None:
    evaluation = predicted(1.0, 0.08)
    rows = tuple(replace(m, warm_us=90.0, stalls_us={"barrier": 5.0, "vmcnt": 60.0}) for m in evaluation.measurements)
    verdict = KernelVerdict.model_validate(verdict_of(replace(evaluation, measurements=rows), TASK, ""))
    assert verdict.time_error == pytest.approx(0.08)
    first = verdict.times[0]
    assert (first.time_us, first.warm_us, first.bound_us) == (100.0, 90.0, 40.0)
    assert first.stalls_us == {"vmcnt": 60.0, "barrier": 5.0}
    plain = KernelVerdict.model_validate(verdict_of(evidence(TASK, "hbm"), TASK, ""))
    assert (plain.times[0].bound_us, plain.time_error) == (None, None)
