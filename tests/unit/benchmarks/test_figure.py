from __future__ import annotations

import json
import re

import pytest

from benchmarks.figure import Figure, report


def figure(value: float, goal: str) -> Figure:
    return Figure("startup.help", value, "s", "python -c pass", 0.01, goal)


@pytest.mark.parametrize(
    ("value", "goal", "met"),
    [
        (0.4, "< 0.5", True),
        (0.5, "< 0.5", False),
        (0.5, "<= 0.5", True),
        (3.0, "> 2", True),
        (2.0, ">= 2.5", False),
        (1.0, "", None),
    ],
)
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


LONG = Figure("compile_rate.first_kernel_of_a_process", 0.1, "s", "an anchor that takes " + "many words " * 9, 0.01)


def test_a_row_is_one_line_where_no_terminal_is_narrow(capsys: pytest.CaptureFixture[str]) -> None:
    report("Rate", [LONG])
    (row,) = [line for line in capsys.readouterr().out.splitlines() if LONG.figure in line and not line.startswith("{")]
    assert LONG.anchor in row


def test_a_narrow_terminal_folds_names_and_cuts_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes any output for a terminal
    monkeypatch.setenv("COLUMNS", "60")
    report("Rate", [LONG])
    table, _ = capsys.readouterr().out.split("{", 1)
    assert "…" not in table
    cells = [re.sub(r"\x1b\[[0-9;]*m", "", line).split("│") for line in table.splitlines() if "│" in line]
    assert "".join(row[1].strip() for row in cells) == LONG.figure
