"""The judge's evidence: independent right kernels for each task, and figures of the kinds that were collected."""

from __future__ import annotations

import pytest

from benchmarks.judge_evidence import figures
from sandbox.candidate.parse import parse
from tests.kernels.mutants.mutants import SMALL, right_kernels


@pytest.mark.parametrize("name", list(SMALL))
def test_every_task_has_three_right_kernels(name: str) -> None:
    ids = [parse(path.read_text(encoding="utf-8")).id for path in right_kernels(name)]
    assert len(set(ids)) == len(ids) >= 3


def test_one_refusal_in_a_thousand_misses_the_goal_and_the_bound_says_how_many_there_may_be() -> None:
    data = {"given": {"again": 1000}, "wrong": [["again", "transpose right_tiles", "wrong_result"]]}
    by_name = {figure.figure: figure for figure in figures({**data, "planted": [], "whole": []})}
    assert set(by_name) == {"judge_evidence.right_refused", "judge_evidence.upper_bound"}
    assert by_name["judge_evidence.right_refused"].met is False
    assert by_name["judge_evidence.upper_bound"].value == pytest.approx(0.004735, rel=1e-3)
