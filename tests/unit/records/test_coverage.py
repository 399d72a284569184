from __future__ import annotations

from records.coverage import coverage_text
from records.evaluation import CaseResult

WHOLE = CaseResult("m=64", "benchmark", True, 1.0, workgroups=8, drawn=8, grid=8)
SAMPLED = CaseResult("m=4096", "benchmark", True, 1.0, 0.1, 0.1, workgroups=459, drawn=459, grid=4590)
SCALED = CaseResult("m=128", "held_out", True, 1.0, stands_for="m=8192")


def test_whole_and_sampled_cases_are_told() -> None:
    assert coverage_text([]) == ""
    assert coverage_text([WHOLE]) == "Every benchmark case was executed and compared whole."
    assert "1 of 2 benchmark cases were executed and compared whole, the others by 459" in coverage_text(
        [WHOLE, SAMPLED]
    )


def test_a_case_that_was_only_scaled_down_is_named() -> None:
    said = coverage_text([WHOLE, SCALED])
    assert said.startswith("1 of 2 benchmark cases were executed and compared whole.")
    assert "only scaled down: m=8192" in said
    assert "Every" not in said
    assert "m=8192" in coverage_text([SCALED])
