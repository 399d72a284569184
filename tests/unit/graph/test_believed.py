"""Proposals on the base in hand: what the planner is shown of them, and which are picked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.author import Idea
from tests.support.scripted_run import Bench


def planner(generation: int) -> Sequence[Idea]:
    """Propose a change that is tried, one of its kind that promises less, one of another kind; then nothing more."""
    if generation > 1:
        return []
    return [
        Idea("tiles of 64", "d", ("r",), 50, 110, 9, mechanism="tiling"),
        Idea("tiles of 32", "d", ("r",), 20, 90, 8, mechanism="tiling"),
        Idea("pad the rows", "d", ("r",), 4, 8, 7, mechanism="bank conflicts"),
    ]


def test_an_idea_that_the_base_has_passed_is_neither_shown_nor_picked(tmp_path: Path) -> None:
    bench = Bench(tmp_path, planner=planner, picks=1, generations=3)
    bench.drive()
    (second,) = bench.context.ledger.experiments("table-run", 2)
    assert second.title == "pad the rows"
    assert (second.gain_min_pct, second.mechanism) == (pytest.approx(4), "bank conflicts")
    memory = bench.author.memories[1]
    kept = [p.title for p in memory.backlog if not p.is_avenue]
    assert kept == ["pad the rows"], "tiles of 32 promised a time that the base has beaten"
    assert memory.saved_us["pad the rows"] > 0
    assert memory.evidence and memory.evidence[0].startswith("tiling: 1 tried: +")


def test_a_run_whose_ideas_have_no_room_left_ends(tmp_path: Path) -> None:
    def alike(generation: int) -> Sequence[Idea]:
        return [i for i in planner(generation) if i.mechanism == "tiling"]

    bench = Bench(tmp_path, planner=alike, picks=1, generations=5)
    run = bench.drive()
    assert [e.title for e in bench.context.ledger.experiments("table-run", 1)] == ["tiles of 64"]
    assert bench.context.ledger.experiments("table-run", 2) == ()
    assert run.status == "done"


def test_an_idea_of_which_no_right_kernel_came_is_offered_once_more(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: "// fail compile unknown name", planner=planner, picks=1, generations=3)
    bench.drive()
    titles = [e.title for n in (1, 2, 3) for e in bench.context.ledger.experiments("table-run", n)]
    assert titles.count("tiles of 64") == 2
    assert bench.author.memories[1].lessons == ()
