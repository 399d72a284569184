"""Killed anywhere, a run goes on as if nothing had happened, and stays small."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from langgraph.checkpoint.sqlite import SqliteSaver

from agents.author import Idea, Specimen, Step
from graph import Context, Limits, build_graph
from graph.doubles import ScriptedAuthor, table_context, table_task
from graph.drive import checkpoints, drive, run_config
from records.codec import dumps
from records.errors import LedgerError
from records.ledger import Ledger
from tests.integration.crash_driver import OF_A_PROCESS

ROOT = Path(__file__).parents[2]


def crashes(folder: Path, driver: str, *arguments: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The run killed at every kind of point and resumed, and the ledger of one that was not interrupted."""
    process = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(driver)), str(folder / "runs"), *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    answer = json.loads(process.stdout)
    for r in answer["results"]:
        moment = f"killed at point {r['at']}: {r['name']}"
        assert r["killed"], moment
        assert r["resumed"] == 0, f"{moment}: {process.stderr}"
        assert r["ledger"] == answer["whole"], moment
        assert r["repeated"] == [], moment
    return answer["results"], answer["whole"]


@pytest.mark.parametrize(
    "which", [pytest.param("states", marks=pytest.mark.long), pytest.param("kinds", marks=pytest.mark.long)]
)
def test_kill_9_wherever_files_differ_then_resume_gives_the_ledger_of_an_uninterrupted_run(
    tmp_path: Path, which: str
) -> None:
    """Every third time the checkpoint is deleted as well."""
    names = {r["name"] for r in crashes(tmp_path, "crash_driver.py", which)[0]}
    stages = ("write", "compile", "verify", "tune", "benchmark")
    assert {f"within event stage {stage}" for stage in stages} <= names
    assert {"within event selected", "within event planned", "before finish", "before checkpoint"} <= names
    assert {f"in the call to {role}" for role in ("select", "plan", "write", "repair")} <= names
    assert {"after estimate", "within add_evaluation", "within attempts", "after checkpoint"} <= names


@pytest.mark.parametrize("stride", [pytest.param(3, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.long)])
def test_kill_9_at_the_bench_then_resume_pays_nothing_twice_and_gives_the_same_tries(
    tmp_path: Path, stride: int
) -> None:
    results, uninterrupted = crashes(tmp_path, "bench_crash_driver.py", str(stride))
    assert len(results) == 9 / stride
    statuses = [
        json.loads(body)["status"] for row in uninterrupted["attempts"] for body in row if str(body).startswith("{")
    ]
    assert sorted(statuses) == ["accepted", "accepted", "rejected", "tried", "tried"]


def ideas(generation: int) -> Sequence[Idea]:
    title = "a title as long as titles are"
    return [Idea(f"{title} {generation}.{i}", "what to do, " * 40, ("change it",) * 9, i, i + 1, i) for i in range(5)]


def writer(step: Step, base: Specimen) -> str:
    """A source of usual size; every third generation gains a little."""
    gain = step.generation // 3 + int(step.experiment_id[-1]) / 10
    return f"// {step.experiment_id}\n// time_us = {100 - gain}\n" + "// padding of the size of a kernel\n" * 200


def make(folder: Path, **limits: Any) -> Context:
    task = table_task(folder / "task", "// time_us = 100\n")
    return table_context(folder, task, ScriptedAuthor(ideas, writer), Limits(**limits))


@pytest.mark.long
def test_after_fifty_generations_state_and_checkpoint_are_small(tmp_path: Path) -> None:
    context = make(tmp_path, generations=50, picks=3, stagnation=50)
    run = drive(context, tmp_path / "checkpoint.db")
    assert run.stop_reason == "all 50 generations are used"
    assert len(context.ledger.attempts(run.id)) == 151
    with checkpoints(tmp_path / "checkpoint.db") as saver:
        state = build_graph().compile(checkpointer=saver).get_state(run_config(context)).values
    assert state["generation"] == 50
    assert len(dumps(state)) < 4096, "64 KB are allowed, a hundredth is needed"
    assert sum(path.stat().st_size for path in tmp_path.glob("checkpoint.db*")) < 5_000_000


class Interrupt(Exception):
    """Stands for whatever ends a process."""


def interrupted_at(context: Context, checkpoint: Path, event: str, count: int) -> None:
    events_seen = 0

    def progress(fact: Any) -> None:
        nonlocal events_seen
        events_seen += fact["event"] == event
        if events_seen == count:
            raise Interrupt

    with pytest.raises(Interrupt):
        drive(context, checkpoint, progress)


def summary(context: Context) -> dict[str, Any]:
    """What the ledger holds of the run, without row numbers and times of day."""
    ledger, run_id = context.ledger, context.run.id
    return {
        "run": ledger.run(run_id),
        "experiments": ledger.experiments(run_id),
        "attempts": ledger.attempts(run_id),
        "events": sorted(dumps([e.kind, e.payload]) for e in ledger.events(run_id) if e.kind not in OF_A_PROCESS),
    }


def spoil_nothing(path: Path) -> None:
    """Leave the checkpoint as it is."""


def damage(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xa5" * (len(data) - 100))


def garble(path: Path) -> None:
    path.write_text("this is no database, and long enough to be looked at " * 50)


def age(path: Path) -> None:
    """Pretend that an older version of the program wrote the state."""
    with checkpoints(path) as saver:
        graph = build_graph().compile(checkpointer=saver)
        graph.update_state({"configurable": {"thread_id": "table-run"}}, {"schema_version": 0})


@pytest.mark.parametrize("spoil", [spoil_nothing, Path.unlink, damage, garble, age])
def test_the_checkpoint_is_only_a_cursor(tmp_path: Path, spoil: Any) -> None:
    uninterrupted = make(tmp_path / "whole", generations=3)
    drive(uninterrupted, tmp_path / "whole" / "checkpoint.db")
    broken, checkpoint = make(tmp_path / "broken", generations=3), tmp_path / "broken" / "checkpoint.db"
    interrupted_at(broken, checkpoint, "planned", 2)
    spoil(checkpoint)
    for leftover in checkpoint.parent.glob("checkpoint.db-*"):
        leftover.unlink()
    assert broken.ledger.run(broken.run.id).status == "running"
    drive(broken, checkpoint)
    assert summary(broken) == summary(uninterrupted)


def test_a_resumed_run_does_not_walk_through_finished_generations_again(tmp_path: Path) -> None:
    context = make(tmp_path, generations=3)
    interrupted_at(context, tmp_path / "checkpoint.db", "planned", 3)
    assert isinstance(context.author, ScriptedAuthor)
    context.author.asked.clear()
    drive(context, tmp_path / "checkpoint.db")
    assert {step.generation for _, step in context.author.asked} == {3}


def test_ctrl_c_leaves_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    context = make(tmp_path, generations=2)

    def progress(fact: Any) -> None:
        if fact["event"] == "planned":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drive(context, tmp_path / "checkpoint.db", progress)
    assert context.ledger.run(context.run.id).status == "paused"
    assert drive(context, tmp_path / "checkpoint.db").status == "done"


def test_a_checkpoint_that_cannot_be_written_is_one_sentence_and_the_run_is_paused(tmp_path: Path) -> None:
    context = make(tmp_path)
    (tmp_path / "checkpoint.db").mkdir()
    with pytest.raises(LedgerError, match=r"the checkpoint .* cannot be written to .*; choose another run folder"):
        drive(context, tmp_path / "checkpoint.db")
    assert context.ledger.run(context.run.id).status == "paused"


def test_two_processes_cannot_drive_one_run(tmp_path: Path) -> None:
    context = make(tmp_path, generations=1)
    context.ledger.add_run(context.run)
    script = (
        "import sys\nfrom pathlib import Path\nfrom records.ledger import Ledger\n"
        "with Ledger(Path(sys.argv[1])) as ledger, ledger.driving('table-run'):\n"
        "    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "ledger.db")],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LedgerError, match="table-run is already running in another process"):
            drive(context, tmp_path / "checkpoint.db")
        holder.kill()
    assert drive(context, tmp_path / "checkpoint.db").status == "done"


def test_the_ledger_alone_is_enough_to_read_a_run(tmp_path: Path) -> None:
    context = make(tmp_path, generations=1)
    drive(context, tmp_path / "checkpoint.db")
    context.ledger.close()
    with Ledger(tmp_path / "ledger.db") as ledger:
        assert ledger.run("table").status == "done"
        assert len(ledger.attempts("table-run")) == 4


def test_the_saver_can_be_chosen(tmp_path: Path) -> None:
    opened: list[sqlite3.Connection] = []

    def saver(connection: sqlite3.Connection) -> SqliteSaver:
        opened.append(connection)
        return SqliteSaver(connection)

    drive(make(tmp_path, generations=1), tmp_path / "checkpoint.db", saver=saver)
    assert len(opened) == 1
