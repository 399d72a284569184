"""Changes and tunables searched together: what it finds, what it never asks twice, and that only right kernels win."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from graph.doubles import TableSandbox, table_task
from graph.exploration import Exploration
from records.evaluation import Evaluation
from sandbox.candidate.prepare import Prepared
from sandbox.walk import Purpose, question
from tests.support.line_changes import LineChanges
from tests.support.scripted_run import Bench

SEED = "// tunable ROWS = 1, 2, 4, 8\n// time_us = 100\n"
# `fast` gains at ROWS=1, and far more at ROWS=8; `slow` loses; `void` changes nothing.
FAST = "// time_us = 90\n// time_us[ROWS=2] = 80\n// time_us[ROWS=4] = 60\n// time_us[ROWS=8] = 40\n"
BOOK = {"fast:1": FAST, "slow:1": "// time_us = 300\n", "void:1": ""}


class Asked:
    """The questions to a sandbox."""

    def __init__(self) -> None:
        self.sandbox, self.seen = TableSandbox(), list[tuple[str, Mapping[str, int]]]()

    def __call__(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        if purpose == "estimate":
            self.seen.append((prepared.source, dict(prepared.tunables)))
        return question(self.sandbox, purpose)(prepared)


def explored(folder: Path, book: Mapping[str, str], limit: int = 24, safe: tuple[str, ...] = ()) -> tuple:  # type: ignore[type-arg]
    task, asked = table_task(folder, SEED), Asked()
    search = Exploration(asked, lambda s: asked.sandbox.prepare(s, task), LineChanges(book, safe), limit)
    search.run(asked.sandbox.prepare(SEED, task))
    return search, asked


def test_a_change_and_the_tunable_that_it_makes_worthwhile_are_found(tmp_path: Path) -> None:
    search, asked = explored(tmp_path, BOOK)
    assert (search.best.timing.time_us, search.best.changes) == (40.0, ("fast:1",))
    assert search.best.prepared.tunables == {"ROWS": 8}
    assert search.is_settled
    assert max(Counter(f"{source}{sorted(choice.items())}" for source, choice in asked.seen).values()) == 1
    assert "slow:1: no gain" in search.without_gain
    assert "void:1: no gain" in search.without_gain


def test_safe_changes_are_tried_at_once_and_then_one_by_one(tmp_path: Path) -> None:
    _, asked = explored(
        tmp_path / "both", {"a:1": "// time_us = 70\n", "b:1": "// time_us = 50\n"}, safe=("a:1", "b:1")
    )
    assert asked.seen[1][0].count("// did") == 2
    search, asked = explored(tmp_path / "one", BOOK, safe=("fast:1", "slow:1"))
    assert asked.seen[1][0].count("// did") == 2
    assert search.best.changes == ("fast:1",)


def test_the_limit_holds_and_such_a_search_is_not_settled(tmp_path: Path) -> None:
    search, asked = explored(tmp_path, BOOK, limit=2)
    assert len(asked.seen) == 3, "the parent beside the limit"
    assert not search.is_settled


def test_a_change_that_is_refused_leaves_the_others(tmp_path: Path) -> None:
    search, _ = explored(tmp_path, BOOK | {"fast:2": "// fail compile no such name\n"})
    assert search.best.changes == ("fast:1",)


def run_of(folder: Path, book: Mapping[str, str], **limits: int) -> Bench:
    bench = Bench(folder, lambda step, base: "// time_us = 500\n", SEED, planner=lambda g: (), generations=3, **limits)
    bench.context = replace(bench.context, changes=LineChanges(book))
    return bench


def test_the_graph_explores_its_leader_once_and_ends(tmp_path: Path) -> None:
    bench = run_of(tmp_path, BOOK)
    run = bench.drive()
    best = min((a for a in bench.attempts().values() if a.geomean_us), key=lambda a: a.geomean_us or 0.0)
    assert (best.geomean_us, best.report, best.parent_id) == (40.0, ("fast:1",), "g000-e0-a0")
    assert best.is_settled
    assert {e.picked_as for e in bench.context.ledger.experiments(run.id)} == {"seed", "explore"}
    assert "to try" in run.stop_reason
    estimates = [key for purpose, key in bench.sandbox.calls if purpose == "estimate"]
    assert len(set(estimates)) == len(estimates)


def test_a_fast_kernel_that_is_wrong_gives_way_to_the_fastest_right_one(tmp_path: Path) -> None:
    bench = run_of(tmp_path, BOOK | {"lie:1": "// time_us = 1\n// fail verify wrong sums\n"})
    bench.drive()
    assert [round(a.geomean_us or 0.0) for a in bench.attempts().values() if a.status == "accepted"] == [100, 40]


def test_the_sources_that_have_no_gain_are_said_and_none_is_recorded_as_new(tmp_path: Path) -> None:
    bench = run_of(tmp_path, {"slow:1": "// time_us = 300\n"})
    bench.drive()
    made = bench.attempts()["g001-e1-a0"]
    assert made.status == "duplicate"
    assert "no change of g000-e0-a0" in made.reason


def test_without_explorations_there_are_none(tmp_path: Path) -> None:
    bench = run_of(tmp_path, BOOK, explorations=0)
    run = bench.drive()
    assert {e.picked_as for e in bench.context.ledger.experiments(run.id)} == {"seed"}
