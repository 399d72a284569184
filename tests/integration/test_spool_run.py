"""Runs whose verdicts come through a spool folder: they pause, go on when answers are there, and end as others do."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from graph.context import Context
from graph.doubles import ScriptedAuthor, TableSandbox
from graph.drive import checkpoints, drive, step_through
from records.errors import SpoolError
from records.run_meter import DRIVEN, DRIVING
from sandbox.remote.client import Remote
from sandbox.remote.spool import Spool
from tests.support.stations import answered, ideas, make_bench, make_context, through, work


def told(context: Context) -> dict[str, Any]:
    """What a run came to, without the keys, which hold where its answers come from."""
    ledger, run_id = context.ledger, context.run.id
    return {
        "run": (ledger.run(run_id).status, ledger.run(run_id).stop_reason),
        "attempts": [
            (a.id, a.status, a.source, dict(a.tunables), a.geomean_us, a.code, a.reason, a.lesson)
            for a in ledger.attempts(run_id)
        ],
        "events": sorted((e.kind, str(e.payload)) for e in ledger.events(run_id) if e.kind not in (DRIVING, DRIVEN)),
    }


@pytest.fixture
def uninterrupted(tmp_path: Path) -> dict[str, Any]:
    """The same run with its sandbox at hand."""
    context = make_context(tmp_path / "whole", TableSandbox())
    drive(context, tmp_path / "whole" / "checkpoint.db")
    return told(context)


def spooled(folder: Path) -> Context:
    return make_context(folder, through(Spool(folder / "spool")))


def test_a_run_through_a_spool_ends_as_the_same_run_at_hand(tmp_path: Path, uninterrupted: dict[str, Any]) -> None:
    context, worker = spooled(tmp_path), TableSandbox()
    run, pauses = answered(context, tmp_path, tmp_path / "spool", worker)
    assert run.status == "done"
    assert told(context) == uninterrupted
    assert pauses == 5, "the seeds, two experiments, their repairs, two experiments, the last leader: a round trip each"
    assert [verb for verb, count in Counter(worker.calls).items() if count > 1] == [], "work was done twice"
    assert not list((tmp_path / "spool" / "claims").iterdir())


def test_a_run_measured_elsewhere_waits_for_its_comparisons_too(tmp_path: Path) -> None:
    """Two new kernels, both close to the seed by level, clearly faster in truth."""
    author = ScriptedAuthor(
        ideas,
        lambda step, base: (
            f"// time_us = 99.5\n// true_us = {97 - int(step.experiment_id[-1])}\n"
            if step.generation == 1
            else "// fail compile no\n"
        ),
    )
    context = make_context(tmp_path, through(Spool(tmp_path / "spool")), author)
    worker = TableSandbox("gpu:table", "measured")
    run, _ = answered(context, tmp_path, tmp_path / "spool", worker)
    assert run.status == "done"
    best = [e.payload for e in context.ledger.events(run.id) if e.kind == "best"]
    assert [b["attempt"] for b in best] == ["g000-e0-a0", "g001-e2-a0"]
    assert str(best[-1]["contrast"]).startswith("faster by 1.1 % ("), "than its sibling, which led until then"
    compared = [key for purpose, key in worker.calls if purpose == "compare"]
    assert len(compared) == len(set(compared)) == 3, "each with the seed, and one with the other, in one round trip"


def test_a_new_kernel_is_compared_with_the_leader_on_the_way_it_is_judged(tmp_path: Path) -> None:
    """Close to the seed by level: the comparison comes with the verdict, and costs no further round trip."""
    author = ScriptedAuthor(
        lambda generation: ideas(generation)[:1],
        lambda step, base: f"// tunable ROWS = 4, 2\n// time_us = 101\n// time_us[ROWS=2] = {100 - step.generation}\n",
    )
    context = make_context(tmp_path, through(Spool(tmp_path / "spool")), author)
    worker = TableSandbox("gpu:table", "measured")
    run, pauses = answered(context, tmp_path, tmp_path / "spool", worker)
    assert (run.status, pauses) == ("done", 3), "the seeds, and one for each of two generations"
    assert [p for p, _ in worker.calls].count("compare") == 2
    assert [e.kind for e in context.ledger.events(run.id) if e.kind != DRIVEN][-1] == "stopped"
    assert [a.id for a in context.ledger.attempts(run.id) if context.ledger.comparisons(a.evaluation_key)] == [
        "g001-e1-a0",
        "g002-e1-a0",
    ]


def test_all_experiments_have_asked_before_the_run_waits(tmp_path: Path) -> None:
    context, worker = spooled(tmp_path), TableSandbox()
    run = drive(context, tmp_path / "checkpoint.db")
    assert (run.status, run.pause) == ("paused", "waiting")
    assert run.stop_reason == f"waiting for 2 results in {tmp_path / 'spool'}"
    assert work(tmp_path / "spool", context.assignment.task, worker) == 2
    run = drive(context, tmp_path / "checkpoint.db")
    assert run.stop_reason == f"waiting for 2 results in {tmp_path / 'spool'}"
    assert len(list((tmp_path / "spool" / "requests").iterdir())) == 4


def test_a_run_resumed_too_early_waits_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    context, worker = spooled(tmp_path), TableSandbox()
    first = drive(context, tmp_path / "checkpoint.db")
    requests = {p: p.stat().st_mtime_ns for p in (tmp_path / "spool" / "requests").iterdir()}
    for _ in range(3):
        assert drive(context, tmp_path / "checkpoint.db") == first
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "spool" / "requests").iterdir()} == requests
    work(tmp_path / "spool", context.assignment.task, worker)
    drive(context, tmp_path / "checkpoint.db")
    assert isinstance(context.author, ScriptedAuthor)
    planned = [step.experiment_id for verb, step in context.author.asked if verb == "plan"]
    assert len(planned) == 1


@pytest.mark.parametrize("lost", ["checkpoint.db", "nothing"])
def test_a_waiting_run_goes_on_in_another_process_and_without_its_checkpoint(
    tmp_path: Path, uninterrupted: dict[str, Any], lost: str
) -> None:
    worker = TableSandbox()
    for _ in range(20):
        context = spooled(tmp_path)  # nothing kept in memory
        run = drive(context, tmp_path / "checkpoint.db")
        if run.status == "done":
            break
        work(tmp_path / "spool", context.assignment.task, worker)
        for path in tmp_path.glob(f"{lost}*"):
            path.unlink()
    assert told(context) == uninterrupted
    assert [verb for verb, count in Counter(worker.calls).items() if count > 1] == []


def test_a_person_who_resumes_by_langgraphs_own_command_is_answered_too(tmp_path: Path) -> None:
    from langgraph.types import Command

    from graph import build_graph
    from graph.drive import run_config

    context, worker = spooled(tmp_path), TableSandbox()
    context.ledger.add_run(context.run)
    with checkpoints(tmp_path / "checkpoint.db") as saver:
        graph = build_graph().compile(checkpointer=saver)
        waiting = step_through(context, saver, lambda event: None)
        assert waiting is not None
        assert len(waiting.awaited) == 2
        work(tmp_path / "spool", context.assignment.task, worker)
        for _ in graph.stream(
            Command(resume=True), run_config(context), context=context, stream_mode="custom", durability="sync"
        ):
            pass
        assert graph.get_state(run_config(context)).values["generation"] == 1


def test_a_stale_result_is_put_aside_told_and_done_again(tmp_path: Path, uninterrupted: dict[str, Any]) -> None:
    context, worker = spooled(tmp_path), TableSandbox()
    drive(context, tmp_path / "checkpoint.db")
    work(tmp_path / "spool", context.assignment.task, worker)
    result = sorted((tmp_path / "spool" / "results").iterdir())[0]
    result.write_bytes(result.read_bytes()[:-40])
    run = drive(context, tmp_path / "checkpoint.db")
    assert run.stop_reason == (
        f"waiting for 1 result in {tmp_path / 'spool'}; the result {result.stem[:12]} was put "
        "aside because it is torn or damaged"
    )
    assert answered(context, tmp_path, tmp_path / "spool", worker)[0].status == "done"
    assert told(context) == uninterrupted


def test_a_worker_that_refuses_pauses_the_run_with_its_sentence(tmp_path: Path, uninterrupted: dict[str, Any]) -> None:
    context, worker = spooled(tmp_path), TableSandbox()
    drive(context, tmp_path / "checkpoint.db")
    folder = Spool(tmp_path / "spool")
    bench = make_bench(context.assignment.task, worker)
    for name in folder.open_requests():
        claim = folder.claim(name)
        assert claim is not None
        folder.publish(bench.refuse(name, "the worker has no task 'table'; update it"), claim)
    with pytest.raises(SpoolError, match=r"worker-1 refused a request: the worker has no task 'table'; update it"):
        drive(context, tmp_path / "checkpoint.db")
    assert context.ledger.run(context.run.id).status == "paused"
    run = context.ledger.run(context.run.id)
    while run.status != "done":
        try:
            run, _ = answered(context, tmp_path, tmp_path / "spool", worker)
        except SpoolError:
            continue
    assert told(context) == uninterrupted


def test_the_author_sees_the_device_of_the_workers(tmp_path: Path) -> None:
    context, worker = spooled(tmp_path), TableSandbox("gpu:table")
    sandbox = context.sandbox
    assert isinstance(sandbox, Remote)
    assert (sandbox.device, sandbox.version) == ("a table elsewhere", "")
    drive(context, tmp_path / "checkpoint.db")
    work(tmp_path / "spool", context.assignment.task, worker)
    assert (sandbox.device, sandbox.version) == ("gpu:table", "table 1")
