"""A whole run of the graph: its seeds, its reasons to stop, faults on the way, and what it remembers and tells."""

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Member, Selection, Specimen, Step
from graph import build_graph
from graph.doubles import ScriptedAuthor
from graph.drive import drive
from records.codec import dumps
from records.errors import BudgetExhausted, KnowledgeError, LabError, LedgerError, MalformedReply, TaskError, UsageError
from records.ledger import Ledger
from records.literature import Quotation
from tests.support.failing_sandbox import FailingSandbox
from tests.support.scripted_run import SEED, Bench, Writer, faster, ideas, only_first


def test_a_broken_machine_stops_the_run_and_keeps_the_siblings_work(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// machine verify the lab cannot start its child", 99), picks=3)
    bench.context = replace(bench.context, sandbox=FailingSandbox(SEED))
    with pytest.raises(LabError, match="the lab cannot start its child"):
        bench.drive()
    run = bench.context.ledger.run(bench.context.run.id)
    assert (run.status, run.stop_reason) == ("paused", "the lab cannot start its child")
    assert run.pause == "machine"
    assert bench.statuses() == {"g001-e2-a0": "accepted", "g001-e3-a0": "accepted"}
    asked_count, call_count = len(bench.author.asked), len(bench.sandbox.calls)
    with pytest.raises(LabError):
        bench.drive()
    roles = {role for role, _ in bench.author.asked[asked_count:]}
    assert roles <= {"write"}, "only the broken experiment is walked through again"
    assert {purpose for purpose, _ in bench.sandbox.calls[call_count:]} == {"verify"}


def test_an_empty_purse_ends_the_run_and_a_fuller_one_takes_it_up_where_it_was(tmp_path: Path) -> None:
    purse = {"is_empty": True}

    def writer(step: Step, base: Specimen) -> str:
        if step.experiment_id == "g001-e2" and purse["is_empty"]:
            raise BudgetExhausted("the next coder call could cost more than is left; resume with a larger budget")
        return faster(step, base)

    bench = Bench(tmp_path, writer)
    run = bench.drive()
    assert (run.status, run.pause) == ("done", "limit")
    assert bench.statuses() == {"g001-e1-a0": "accepted"}
    purse["is_empty"] = False
    bench.context.ledger.finish(run.id, "running")
    call_count = len(bench.sandbox.calls)
    assert bench.drive().status == "done"
    assert bench.statuses() == {"g001-e1-a0": "accepted", "g001-e2-a0": "accepted"}
    assert [purpose for purpose, _ in bench.sandbox.calls[call_count:]] == ["compile", "verify", "benchmark", "confirm"]


def test_a_run_whose_progress_nobody_reads_is_paused_and_goes_on(tmp_path: Path) -> None:
    def unread(event: Any) -> None:
        if event["event"] == "planned":
            raise BrokenPipeError

    bench = Bench(tmp_path)
    with pytest.raises(BrokenPipeError):
        drive(bench.context, tmp_path / "checkpoint.db", unread)
    assert bench.context.ledger.run("table-run").pause == "unread"
    assert bench.drive().status == "done"
    assert bench.statuses() == {"g001-e1-a0": "accepted", "g001-e2-a0": "accepted"}


def test_parallel_experiments_tell_one_event_at_a_time(tmp_path: Path) -> None:
    busy, together, threads = threading.Lock(), [], set[int]()

    def progress(event: Any) -> None:
        if not busy.acquire(blocking=False):
            together.append(event)
            return
        threads.add(threading.get_ident())
        time.sleep(0.001)  # long enough for a sibling to come in
        busy.release()

    bench = Bench(tmp_path, generations=3, picks=3)
    assert drive(bench.context, tmp_path / "checkpoint.db", progress).status == "done"
    assert together == []
    assert len(threads) > 1, "experiments tell in their own threads"


def test_without_a_driver_the_events_are_on_the_custom_stream(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    graph = build_graph().compile()
    streamed = list(graph.stream({"run_id": "table-run"}, context=bench.context, stream_mode="custom"))
    recorded = [{"event": e.kind, **e.payload} for e in bench.context.ledger.events("table-run")]
    assert sorted(map(dumps, recorded)) == sorted(dumps({k: v for k, v in e.items() if k != "usd"}) for e in streamed)
    assert {"stage", "attempt", "stopped"} <= {e["event"] for e in streamed}


def same(step: Step, base: Specimen) -> str:
    return f"// {step.experiment_id}\n// time_us = 100\n"


@pytest.mark.parametrize(
    ("writer", "planner", "limits", "reason"),
    [
        (faster, ideas, {"generations": 2}, "all 2 generations are used"),
        (same, ideas, {"generations": 9, "stagnation": 2}, "no gain in 2 generations"),
        (same, ideas, {"generations": 9, "stagnation": 1}, "no gain in 1 generation"),
        (
            lambda step, base: "// time_us = 10\n// roofline_us = 9.8\n",
            ideas,
            {"generations": 9, "picks": 1},
            "the best kernel reaches 98% of the roofline",
        ),
        (
            faster,
            lambda generation: ideas(generation) if generation < 3 else [],
            {"generations": 9},
            "nothing is left to try",
        ),
    ],
)
def test_each_reason_to_stop(tmp_path: Path, writer: Writer, planner: Any, limits: dict[str, Any], reason: str) -> None:
    bench = Bench(tmp_path, writer, planner=planner, **limits)
    run = bench.drive()
    assert (run.status, run.stop_reason) == ("done", reason)
    assert bench.told[-1]["event"] == "stopped"
    asked_count = len(bench.author.asked)
    assert bench.drive() == run
    assert len(bench.author.asked) == asked_count, "a run that is done is not run again"


def test_every_seed_is_generation_zero_and_the_first_must_be_accepted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, faster, SEED, "// fail verify wrong at 3\n", "// time_us = 70\n")
    bench.drive()
    assert bench.statuses("g000") == {"g000-e0-a0": "accepted", "g000-e1-a0": "rejected", "g000-e2-a0": "accepted"}
    assert bench.attempts()["g001-e1-a0"].parent_id == "g000-e2-a0"
    started = next(e for e in bench.told if e["event"] == "best")
    assert (started["attempt"], started["over_seed"]) == ("g000-e2-a0", 1.0)
    assert started["over_naive"] == pytest.approx(100 / 70)


def test_a_first_seed_that_is_wrong_ends_the_run_with_a_clear_sentence(tmp_path: Path) -> None:
    bench = Bench(tmp_path, faster, "// fail verify wrong at 3\n")
    with pytest.raises(TaskError, match="first seed of task table must be accepted before a run: wrong at 3"):
        bench.drive()
    assert bench.context.ledger.run("table-run").status == "failed"
    assert bench.author.asked == []


class Stubborn(ScriptedAuthor):
    def select(self, step: Step, work: Any, population: Sequence[Member]) -> Selection:
        if step.generation == 1:
            raise MalformedReply("the selector gave no answer of the asked shape")
        return Selection("g009-e9-a9", "g009-e9-a9", "made up")


def test_a_selector_that_names_no_kernel_of_the_population_gets_the_best_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, generations=2)
    bench.context = replace(bench.context, author=Stubborn(ideas, faster))
    bench.drive()
    experiments = {e.id: e for e in bench.context.ledger.experiments("table-run")}
    assert (experiments["g001-e1"].parent_id, experiments["g001-e1"].reference_id) == ("g000-e0-a0", None)
    assert (experiments["g002-e1"].parent_id, experiments["g002-e1"].reference_id) == ("g001-e2-a0", "g000-e0-a0")
    assert [e["message"] for e in bench.told if e["event"] == "warning"] == [
        "the selector gave no answer of the asked shape"
    ]


class Ruins:
    def search(self, query: str, k: int, arch: str | None = None) -> tuple[Quotation, ...]:
        raise KnowledgeError("the knowledge store is damaged; rebuild it")


def test_a_run_finishes_without_its_knowledge_store_and_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.author.reads = True
    bench.context = replace(bench.context, literature=Ruins())
    assert bench.drive().status == "done"
    warnings = [e["message"] for e in bench.told if e["event"] == "warning"]
    assert set(warnings) == {"the knowledge store is damaged; rebuild it"}


def test_what_is_told_is_what_the_ledger_keeps_but_for_the_money(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// fail compile no"), generations=2)
    bench.drive()
    events = bench.context.ledger.events("table-run")
    assert [e.kind for e in (events[0], events[-1])] == ["driving", "driven"]
    recorded = [{"event": e.kind, **e.payload} for e in events[1:-1]]
    progress = [{name: value for name, value in e.items() if name != "usd"} for e in bench.told]
    assert sorted(map(dumps, recorded)) == sorted(map(dumps, progress))
    assert all(e["usd"] == 0.0 for e in bench.told)
    assert {e["event"] for e in progress} == {
        "generation",
        "selected",
        "planned",
        "stage",
        "attempt",
        "best",
        "stopped",
    }


def test_later_plans_remember_what_failed_and_what_was_learnt(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// fail compile unknown name", 99), generations=2)
    bench.drive()
    first, second = bench.author.memories
    assert first.failures == first.lessons == ()
    assert "idea 1.0: A.1: unknown name (line 1)" in second.failures
    assert any(lesson.startswith("idea 1.4: +") for lesson in second.lessons)


def test_the_graph_runs_without_driver_or_checkpointer(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    state = build_graph().compile().invoke({"run_id": "table-run"}, context=bench.context)
    assert state["best_id"] == "g001-e2-a0"
    assert state["outcomes"] == {"g001-e1": "accepted", "g001-e2": "accepted"}
    assert bench.context.ledger.run("table-run").status == "done"


def test_a_graph_without_its_context_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pass context=Context"):
        build_graph().compile().invoke({"run_id": "r"})
    with pytest.raises(UsageError, match="started for run other"):
        build_graph().compile().invoke({"run_id": "other"}, context=Bench(tmp_path).context)


def test_the_narrowest_concurrency_still_gets_through(tmp_path: Path) -> None:
    bench = Bench(tmp_path, picks=3)
    run = drive(bench.context, tmp_path / "checkpoint.db", bench.told.append, max_concurrency=1)
    assert (run.status, len(bench.statuses())) == ("done", 3)


def test_a_run_that_is_driven_already_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    other = Ledger(tmp_path / "ledger.db")
    with other.driving("table-run"), pytest.raises(LedgerError, match="already running"):
        bench.drive()
