from __future__ import annotations

import json

import pytest

from benchmarks.figure import Figure, report


def figure(value: float, goal: str) -> Figure:
    return Figure("startup.help", value, "s", "python -c pass", 0.01, goal)


@pytest.mark.parametrize(("value", "goal", "met"), [
    (0.4, "< 0.5", True), (0.5, "< 0.5", False), (0.5, "<= 0.5", True), (3.0, "> 2", True), (2.0, ">= 2.5", False),
    (1.0, "", None),
])
def test_a_goal_is_met_or_not(value: float, goal: str, met: bool | None) -> None:
    assert figure(value, goal).met is met


def test_a_line_has_the_documented_keys_in_order() -> None:
    line = json.loads(figure(0.08, "< 0.5").line())
    assert list(line) == ["figure", "value", "unit", "anchor", "anchor_value", "ratio", "goal", "met", "stored"]
    assert line["ratio"] == 8.0
    assert line["met"] is True


def test_a_missed_goal_is_the_exit_code_and_the_lines_come_last(capsys: pytest.CaptureFixture[str]) -> None:
    assert report("Start-up", [figure(0.1, "< 0.5")]) == 0
    assert report("Start-up", [figure(0.1, "< 0.5"), figure(0.9, "< 0.5")]) == 1
    last = capsys.readouterr().out.splitlines()[-2:]
    assert [json.loads(line)["met"] for line in last] == [True, False]
