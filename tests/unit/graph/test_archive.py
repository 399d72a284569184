"""Cells, coverage and islands: the fastest of each strategy stays, one strategy over and over raises the alarm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Idea, Specimen, Step
from graph.archive import ENOUGH, Archive, on_island
from graph.history import History
from tests.support.scripted_run import Bench
from tests.support.specimens import member


def test_a_cell_keeps_the_fastest_of_its_code() -> None:
    archive = Archive()
    for name, time_us, code in (("a", 9.0, "B64"), ("b", 7.0, "B64"), ("c", 8.0, "B64"), ("d", 20.0, "B256")):
        archive.admit(member(name, time_us, code), is_seed=False)
    assert {code: m.id for code, m in archive.cells.items()} == {"B64": "b", "B256": "d"}


def test_the_alarm_needs_enough_kernels_of_one_code_and_ends_with_others() -> None:
    archive = Archive()
    for n in range(ENOUGH - 1):
        archive.admit(member(f"a{n}", 9.0, "B64"), is_seed=False)
    archive.admit(member("seed", 9.0, "B128"), is_seed=True)
    assert not archive.alarm
    archive.admit(member("last", 9.0, "B64"), is_seed=False)
    assert archive.spread == pytest.approx(1.0)
    assert archive.alarm == (
        "coverage: 6 of the last 6 kernels have one strategy, B64; propose another one (known besides: B128)"
    )
    for n in range(2):
        archive.admit(member(f"b{n}", 9.0, f"B{n}"), is_seed=False)
    assert archive.spread > 2.0
    assert not archive.alarm


def test_islands_take_turns_and_meet_when_they_migrate() -> None:
    members = [member(f"g{g}", 9.0) for g in range(7)]
    born = {m.id: g for g, m in enumerate(members)}

    def seen(generation: int, islands: int = 2, every: int = 3) -> list[str]:
        return [m.id for m in on_island(members, born, generation, islands, every)]

    assert seen(3) == ["g0", "g1", "g3", "g5"]
    assert seen(4) == ["g0", "g2", "g4", "g6"]
    assert seen(5) == seen(6) == [m.id for m in members], "the third turn of each"
    assert seen(5, every=0) == ["g0", "g1", "g3", "g5"]
    assert seen(3, islands=1) == [m.id for m in members]


SLOWER = "// time_us = 200\n"


def stagnating(folder: Path, **limits: int) -> Bench:
    """A run whose second seed is slower and of another strategy, and whose author gains nothing."""
    plan = '/*+++\n[[launch]]\nkernel = "k"\ngrid = ["1"]\nblock = ["{}"]\n+++*/\n// time_us = {}\n'

    def write(step: Step, base: Specimen) -> str:
        return f"{base.source}{SLOWER}// {step.experiment_id}\n"

    def ideas(generation: int) -> list[Idea]:
        return [Idea(f"sure {generation}", "", (), 20.0, 30.0, 0.0), Idea(f"new {generation}", "", (), 0.0, 1.0, 90.0)]

    seeds = (plan.format(64, 100), plan.format(256, 150))
    bench = Bench(folder, write, *seeds, planner=ideas, generations=4, picks=1, stagnation=9, **limits)
    bench.drive()
    return bench


def test_stagnation_is_answered_by_another_cell_and_then_by_innovation(tmp_path: Path) -> None:
    bench = stagnating(tmp_path)
    ledger, run = bench.context.ledger, bench.context.run.id
    told = [e.payload for e in ledger.events(run) if e.kind == "selected"]
    assert [t.get("answer", "") for t in told] == ["", "another_cell", "most_innovative", "another_cell"]
    assert [t["base"] for t in told][:3] == ["g000-e0-a0", "g000-e1-a0", "g000-e0-a0"]
    codes = {a.strategy.split("-")[0] for a in ledger.attempts(run, 0)}
    assert codes == {"B64", "B256"}
    quiet = stagnating(tmp_path / "off", answers=0)
    assert {e.payload["base"] for e in quiet.context.ledger.events(run) if e.kind == "selected"} == {"g000-e0-a0"}


def test_a_run_ends_where_roofline_and_launch_leave_nothing(tmp_path: Path) -> None:
    for limit, reason in ((0.9, "the best kernel reaches 91% of what roofline and launch leave"), (0.95, "all 2 ")):
        seed = "// time_us = 110\n// roofline_us = 100\n"
        bench = Bench(tmp_path / str(limit), lambda step, base: SLOWER, seed, generations=2, attainable_fraction=limit)
        assert bench.drive().stop_reason.startswith(reason)


def test_a_history_that_is_read_again_has_the_same_cells(tmp_path: Path) -> None:
    bench = stagnating(tmp_path)
    known = bench.context.history.archive(5)
    again = History(bench.context.ledger, bench.context.run.id).archive(5)
    assert {code: m.id for code, m in again.cells.items()} == {code: m.id for code, m in known.cells.items()}
    assert list(again.late) == list(known.late)
