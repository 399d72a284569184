"""The benchmark of a model's faults on a few of its rows, and its figures on rows that are bad."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.faulty_endpoint import reply
from benchmarks.model_fault_table import ModelFault, always, table
from benchmarks.model_faults import FIRST, Outcome, chosen, figures, one

ROWS = {fault.name: fault for fault in table()}
GOOD = Outcome("HTTP 503", "passing", "planner", "done", "", 3, 19, 1.0, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("HTTP 503", "coder"),
        ("200 with no choices", "planner"),
        ("a window of 6,144, vLLM", "planner"),
        ("Responses alone", "coder"),
        ("roles that alternate", "coder"),
        ("answer: a surrogate in arguments", "coder"),
        ("counts: beyond all measure", "coder"),
        ("always HTTP 401", "selector"),
    ],
)
def test_a_run_with_this_fault_finishes(tmp_path: Path, name: str, role: str) -> None:
    row = one(ROWS[name], role, tmp_path)
    assert (row.is_finished, row.is_crash, row.cut_kernels, row.why) == (True, False, 0, "all 2 generations are used")
    assert row.requests > 0


@pytest.mark.slow
def test_a_run_whose_planner_is_refused_for_ever_ends(tmp_path: Path) -> None:
    row = one(ROWS["always the same window"], "planner", tmp_path)
    assert (row.status, row.is_endless, row.requests) == ("paused", False, 3)


@pytest.mark.slow
def test_of_an_answer_that_is_cut_off_nothing_is_accepted(tmp_path: Path) -> None:
    assert one(ROWS["cut: length"], "coder", tmp_path).cut_kernels == 0
    lying = ModelFault("a cut that is not said", "cut", lambda request: _whole(request.number))
    assert one(lying, "coder", tmp_path / "other").cut_kernels > 0  # so that the count counts


def _whole(number: int):  # type: ignore[no-untyped-def]
    from benchmarks.faulty_endpoint import chat, kernel

    return reply(chat("", ("check", {"source": kernel("x", is_cut=True)}))) if number == 2 else None


def test_each_bad_run_shows_in_its_figure() -> None:
    bad = {
        "endless": replace(GOOD, is_endless=True),
        "crashes": replace(GOOD, is_crash=True),
        "cut_kernels": replace(GOOD, cut_kernels=1),
        "over_budget": replace(GOOD, usd=99.0),
        "passing": replace(GOOD, status="paused"),
    }
    for name, row in bad.items():
        missed = {f.figure.split(".")[1] for f in figures([GOOD, row]) if f.met is False} - {"faults", "quirks"}
        assert name in missed and missed <= {name, "passing"}


def test_there_are_enough_faults_with_names_of_their_own() -> None:
    assert len(ROWS) == len(table()) >= 110


def test_a_contradiction_is_no_fault_of_a_first_request() -> None:
    fault = ModelFault("x", "passing", always(reply({})), True)
    assert chosen([fault], [FIRST, "coder"], "") == [(fault, "coder")]
