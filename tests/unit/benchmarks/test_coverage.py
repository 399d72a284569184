from __future__ import annotations

import random

import pytest

from benchmarks.coverage import Found, Whole, figures
from benchmarks.planted_errors import HOSTS, KINDS, planted
from sandbox.candidate.prepare import prepare
from tasks.loader import load_task


@pytest.mark.parametrize("name", list(HOSTS))
@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_planted_in_each_host_at_one_place(name: str, kind: str) -> None:
    task = load_task(name, "mi300x")
    source = planted(name, kind, random.Random(3))
    wrong, skipped = (line.split(" ", 2)[2] for line in source.splitlines() if line.startswith("#define "))
    assert prepare(source, task).refusal is None
    assert (wrong == "(false)") == (kind == "one strip") and (skipped == "(false)") == (kind != "one strip")
    body = source.split("#define SKIPPED", 1)[1].split("\n", 1)[1]
    assert "SKIPPED" in body and "WRONG" in body
    assert ("calls++" in body) == (kind == "one call in n")


def test_places_are_drawn() -> None:
    rng = random.Random(3)
    assert len({planted("transpose", "one workgroup", rng) for _ in range(8)}) == 8


def test_figures_count_by_kind_over_all_tasks() -> None:
    rows = {("a", KINDS[0]): Found(3, 1, 2), ("b", KINDS[0]): Found(3, 2, 3)}
    wholes = [Whole("a", "x", 4, 1.5, False), Whole("a", "y", 4, 2.5, True)]
    found = {figure.figure: (figure.value, figure.anchor_value) for figure in figures(rows, wholes)}
    assert found["coverage.verify.one_workgroup"] == (3, 6) and found["coverage.confirm.one_workgroup"] == (5, 6)
    assert found["coverage.whole.a"] == (2.5, 4.0)
