"""A run leaves its winner and what its ablations showed, and nothing that is only believed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Specimen, Step
from records.experiment import Run
from tests.support.scripted_run import Bench

SEED = "// tunable ROWS = 1, 2, 3, 4, 5, 6\n// time_us = 100\n// time_us[ROWS=6] = 50\n"
REORDERED = "// tunable ROWS = 6, 1, 2, 3, 4, 5\n// time_us = 100\n// time_us[ROWS=6] = 50\n"
TRUE = REORDERED.replace("= 100", "= 80").replace("= 50", "= 40")


def ran(folder: Path, child: str, run_id: str = "table-run", **limits: int) -> Bench:
    def writer(step: Step, base: Specimen) -> str:
        return f"// {step.experiment_id}\n{child}"

    bench = Bench(folder, writer, SEED, picks=1, generations=1, **({"tunings": 1} | limits))
    bench.context = replace(bench.context, run=replace(bench.context.run, id=run_id))
    assert bench.drive().status == "done"
    return bench


def left(bench: Bench) -> list[tuple[str, str, str]]:
    return [(r.kind, r.run_id, r.attempt_id) for r in bench.context.ledger.recollections()]


def test_a_winner_and_a_shown_lesson_are_left_once(tmp_path: Path) -> None:
    bench = ran(tmp_path, TRUE)
    assert left(bench) == [("winner", "table-run", "g001-e1-a0"), ("lesson", "table-run", "g001-e1-a0")]
    again = ran(tmp_path, TRUE, "second")
    assert again.context.ledger.run("second").status == "done"
    assert left(again) == left(bench), "the second run found the same kernel"


def test_a_refuted_idea_is_left_as_refuted(tmp_path: Path) -> None:
    bench = ran(tmp_path, f"// maps blocks to chiplets\n{REORDERED}")
    assert ("refuted", "table-run", "g001-e1-a0") in left(bench)
    assert "lesson" not in [kind for kind, _, _ in left(bench)]


def test_what_is_believed_or_failed_is_not_left(tmp_path: Path) -> None:
    believed = ran(tmp_path / "a", REORDERED, ablations=0)
    assert [kind for kind, _, _ in left(believed)] == ["winner"]
    failed = ran(tmp_path / "b", f"// fail verify wrong\n{TRUE}")
    assert left(failed) == [], "the seeds are the task's own"
    refused = ran(tmp_path / "c", f"// fail confirm wrong\n{TRUE}")
    assert left(refused) == [], "its confirmation has refused it"


def test_a_run_without_memory_leaves_nothing(tmp_path: Path) -> None:
    assert left(ran(tmp_path, TRUE, memory_tokens=0)) == []


def test_the_provenance_is_that_of_the_run(tmp_path: Path) -> None:
    bench = ran(tmp_path, TRUE)
    run: Run = bench.context.run
    task = bench.context.assignment.task
    for r in bench.context.ledger.recollections():
        assert (r.task, r.task_digest, r.target, r.at) == (task.name, task.digest, run.target, run.created_at)
        assert task.title in r.about
