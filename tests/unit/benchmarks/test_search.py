from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.author import Assignment
from benchmarks.search import CLIMB, FILE, GRAPH, LIMIT, RANDOM, SEEDS, Prober, charged, climb, figures, needed, rival
from benchmarks.search_tasks import SHIPPED
from graph.doubles import TableSandbox, table_task
from sandbox.answers import Remembered

SEED = "// tunable ROWS = 1, 2, 3, 4\n// time_us = 100\n// time_us[ROWS=3] = 60\n"


def test_what_is_needed_is_counted_to_the_least_gain_and_a_miss_costs_the_limit() -> None:
    assert needed([100.0, 60.05, 60.0], 60.0) == 2
    assert needed([100.0, 60.1], 60.0) is None
    assert charged([10, None]) == (10 + LIMIT) / 2


def test_a_climb_finds_the_planted_value_and_asks_for_no_kernel_twice(tmp_path: Path) -> None:
    sandbox = TableSandbox()
    remembered = Remembered(sandbox)
    work = Assignment(table_task(tmp_path, SEED), "a table", "mi300x", "gfx942", 0)
    for _ in range(2):
        curve = rival(climb, Prober(work, remembered, 60.0), 1)
        assert curve[0] == pytest.approx(100.0)
        assert curve[-1] == pytest.approx(60.0)
        assert 2 <= len(curve) <= 4
        assert curve == sorted(curve, reverse=True)
    assert len(sandbox.calls) == len(set(sandbox.calls)), "the second search was answered from memory"
    other_rows = [n.tunables["ROWS"] for n in Prober(work, remembered).neighbours(Prober(work, remembered).seeds()[0])]
    assert sorted(other_rows) == [2, 3, 4]


def test_the_graph_needs_fewer_kernels_than_either_rival_in_each_of_six_tasks() -> None:
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    assert set(rows) > set(SHIPPED)
    assert len(rows) == 6
    assert all(len(row["needed"][name]) == SEEDS for row in rows.values() for name in (GRAPH, CLIMB, RANDOM))
    assert all(figure.met for figure in figures(rows))
