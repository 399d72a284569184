"""The graph that langgraph.json names, by langgraph's own interface: plain data, approval, forks, resuming, faults."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from agents.author import Draft, Specimen, Step
from app.served_request import request_of
from app.served_runs import graph, guard_traces
from graph import build_graph
from graph.served_fields import RunOutput
from graph.serving import ServedFault
from graph.subgraph import build_experiment
from records.errors import BudgetExhausted, UsageError
from tests.support.scripted_run import faster
from tests.support.served import ASKED, Server


def test_a_request_of_plain_data_runs_to_its_result(tmp_path: Path) -> None:
    reply = Server(tmp_path).invoke(ASKED)
    assert set(reply) == set(RunOutput.__annotations__)
    result = json.loads(json.dumps(reply["result"]))
    assert result["run_id"] == reply["run_id"]
    assert result["best"]["id"] == reply["best_id"] and result["best"]["speedup_over_seed"] > 1
    assert reply["best_source"] == Path(result["best"]["path"]).read_text() and "-// time_us = 100" in reply["diff"]
    assert reply["gain"] == result["headline"]["gain"] > 1 and reply["headline"] in reply["messages"][-1].text
    assert (tmp_path / "runs" / reply["run_id"] / "report.html").exists()


def test_langgraph_json_names_the_graph_without_a_checkpointer() -> None:
    root = Path(__file__).parents[2]
    path, _, name = json.loads((root / "langgraph.json").read_text())["graphs"]["scientist"].partition(":")
    assert (root / path).resolve() == Path(inspect.getfile(guard_traces)).resolve()
    assert name == "graph" and graph.checkpointer is None


def test_the_experiment_is_a_sub_graph_that_is_drawn_and_streamed(tmp_path: Path) -> None:
    assert "experiment\\3averify(verify)" in graph.get_graph(xray=1).draw_mermaid()
    server = Server(tmp_path)
    nodes = [
        (bool(namespace), node)
        for namespace, update in server.graph.stream(ASKED, server.thread("t"), stream_mode="updates", subgraphs=True)
        for node in update
    ]
    assert {(True, "write"), (True, "compile"), (True, "verify"), (False, "experiment"), (False, "plan")} <= set(nodes)


def test_progress_is_on_the_custom_stream(tmp_path: Path) -> None:
    server = Server(tmp_path)
    events = [e["event"] for e in server.graph.stream(ASKED, server.thread("t"), stream_mode="custom")]
    assert {"generation", "attempt", "best", "planned", "stopped"} <= set(events)


def test_the_context_holds_presets_that_the_input_overrides(tmp_path: Path) -> None:
    server = Server(tmp_path)
    preset = {"author": "playbook", "on": "lab", "seed": 5, "limits": {"generations": 1, "picks": 1}}
    first = server.invoke({"task": "row_softmax"}, "a", context=preset)
    second = server.invoke({"task": "row_softmax", "seed": 6}, "b", context=preset)
    runs = {run.id: run for run in server.ledger().runs()}
    assert [runs[f["run_id"]].seed for f in (first, second)] == [5, 6]
    assert runs[first["run_id"]].config["picks"] == 1


def test_experiments_wait_for_approval_and_an_answer_that_cannot_be_read_is_asked_for_again(tmp_path: Path) -> None:
    server = Server(tmp_path)
    [question] = server.invoke({**ASKED, "approve": True})["__interrupt__"]
    assert [row["id"] for row in question.value["experiments"]] == ["g001-e1", "g001-e2", "g001-e3"]
    [run] = server.ledger().runs()
    assert (run.status, run.pause) == ("paused", "approval")
    [second_question] = server.invoke(Command(resume={"apprve": 1}))["__interrupt__"]
    assert second_question.value["message"].startswith("that answer cannot be read")
    [two] = server.invoke({**ASKED, "limits": {"generations": 2, "picks": 1}, "approve": True}, "u")["__interrupt__"]
    assert two.value["message"].endswith('such as ["g001-e1"]')
    [two] = server.invoke(Command(resume=False), "u")["__interrupt__"]
    assert two.value["message"].endswith('such as ["g002-e1"]')
    server.restart()
    final = server.invoke(Command(resume=["g001-e3"]))
    attempts = {a.id for a in server.ledger().attempts(final["run_id"], 1)}
    assert attempts == {"g001-e3-a0"}
    assert server.ledger().run(final["run_id"]).status == "done"


def test_a_used_up_budget_waits_in_the_experiment_for_a_larger_one(tmp_path: Path) -> None:
    server = Server(tmp_path)

    def paying(step: Step, base: Specimen) -> str | Draft:
        if not server.allowed:
            raise BudgetExhausted("the next call could cost $2.00")
        return faster(step, base)

    server.writer = paying
    server.invoke({**ASKED, "limits": {"generations": 1, "picks": 1}, "approve": True})
    [question] = server.invoke(Command(resume=True))["__interrupt__"]
    assert (question.value["kind"], server.ledger().runs()[0].pause) == ("budget", "approval")
    server.restart()
    assert server.invoke(Command(resume=3.5))["best_id"] == "g001-e1-a0"
    assert set(server.allowed) == {3.5}


@pytest.mark.parametrize("most", [0, 1, 6, 9, 12, 14])
def test_a_limit_ends_a_served_run_with_its_best_kernel(tmp_path: Path, most: int) -> None:
    server = Server(tmp_path)
    request = {**ASKED, "limits": {"generations": 2, "picks": 2}}
    met = server.invoke({**request, "max_evaluations": most})
    run = server.ledger().run(met["run_id"])
    assert (run.status, run.pause) == ("done", "limit")
    assert "--max-evaluations" in met["stop"]
    sandbox = server.sandboxes[run.id]
    assert len(sandbox.calls) <= most
    assert (met["result"]["best"] is not None) == (most > 3)


def test_a_served_run_has_every_node_and_stage_of_another_run() -> None:
    assert set(build_graph().nodes) | {"request", "conclude"} == set(graph.nodes) - {"__start__"}
    [(_, inner)] = graph.get_subgraphs()
    assert set(build_experiment().nodes) == set(inner.nodes) - {"__start__"}


def test_resuming_twice_changes_nothing(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.invoke({**ASKED, "approve": True})
    final = server.invoke(Command(resume=True))
    before = server.ledger().attempts(final["run_id"])
    assert server.invoke(Command(resume=True))["result"] == final["result"]
    assert server.invoke(None)["result"] == final["result"]
    assert server.ledger().attempts(final["run_id"]) == before


def test_an_old_checkpoint_replays_without_asking_anything_again(tmp_path: Path) -> None:
    server = Server(tmp_path)
    final = server.invoke(ASKED)
    calls = len(server.sandboxes[final["run_id"]].calls)
    for snapshot in list(server.graph.get_state_history(server.thread("t"))):
        if snapshot.next in (("select",), ("plan",), ("reflect",)):
            replayed = server.graph.invoke(None, snapshot.config)
            assert replayed["run_id"] == final["run_id"] and replayed["best_id"] == final["best_id"]
    assert len(server.sandboxes[final["run_id"]].calls) == calls


def test_a_fork_with_other_limits_is_a_run_of_its_own_that_begins_with_what_was_known(tmp_path: Path) -> None:
    server = Server(tmp_path)
    final = server.invoke(ASKED)
    snapshot = next(s for s in server.graph.get_state_history(server.thread("t")) if s.next == ("select",))
    forked = server.graph.update_state(snapshot.config, {"limits": {"generations": 2}})
    result = server.graph.invoke(None, forked)
    ledger = server.ledger()
    assert result["run_id"] != final["run_id"] and result["generation"] == 2
    new, old = ledger.run(result["run_id"]), ledger.run(final["run_id"])
    assert (new.status, old.status) == ("done", "done")
    assert new.config["forked_from"] == old.id
    assert {a.id for a in ledger.attempts(new.id, 0)} == {a.id for a in ledger.attempts(old.id, 0)}
    assert {a.generation for a in ledger.attempts(old.id)} == {0, 1}
    assert server.invoke(None)["run_id"] == result["run_id"]  # the thread goes on with the fork


def test_a_finished_run_goes_on_in_a_fork_with_more_generations(tmp_path: Path) -> None:
    server = Server(tmp_path)
    final = server.invoke(ASKED)
    changed = {"stop": "", "limits": {"generations": 2}}
    config = server.graph.update_state(server.thread("t"), changed, as_node="reflect")
    result = server.graph.invoke(None, config)
    assert result["generation"] == 2 and result["run_id"] != final["run_id"]
    config = server.graph.update_state(server.thread("t"), {"stop": ""}, as_node="reflect")
    with pytest.raises(ServedFault, match=r"is done.*other limits"):
        server.graph.invoke(None, config)


def test_a_fork_keeps_the_task(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.invoke(ASKED)
    snapshot = next(s for s in server.graph.get_state_history(server.thread("t")) if s.next == ("select",))
    with pytest.raises(ServedFault, match="a fork keeps task"):
        server.graph.invoke(None, server.graph.update_state(snapshot.config, {"task": "transpose"}))


def test_several_runs_go_on_at_once(tmp_path: Path) -> None:
    server = Server(tmp_path)
    results: dict[str, Any] = {}

    def one(name: str) -> None:
        results[name] = server.invoke(ASKED, name)

    threads = [threading.Thread(target=one, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({f["run_id"] for f in results.values()}) == 3
    assert {run.status for run in server.ledger().runs()} == {"done"}


def test_a_second_input_on_a_thread_is_a_new_run(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.invoke(ASKED)["run_id"] != server.invoke(ASKED)["run_id"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({**ASKED, "task": "no_such_task"}, "no_such_task"),
        ({**ASKED, "task": ""}, "names no task"),
        ({**ASKED, "author": "shakespeare"}, "author is llm, playbook or command"),
        ({**ASKED, "target": "mi999"}, "mi999"),
        ({**ASKED, "on": "moon"}, "moon"),
        ({**ASKED, "limits": {"generations": -1}}, "generations is a whole number from 1"),
        ({**ASKED, "limits": {"generatons": 1}}, "there is no limit 'generatons'"),
        ({**ASKED, "limits": [1]}, "limits of a request is of type dict"),
        ({**ASKED, "seed": "one"}, "seed of a request is of type int"),
        ({**ASKED, "seed": 10**30}, "at most 63 bits"),
        ({**ASKED, "budget_usd": -2}, "from 0 on, not -2"),
        ({**ASKED, "budget_usd": float("nan")}, "from 0 on, not nan"),
        ({**ASKED, "budget_usd": float("inf")}, "from 0 on, not inf"),
        ({**ASKED, "task": "x" * 5000}, "there is no task 'xxx"),
        ({**ASKED, "generatons": 5}, "there is no field 'generatons' in an input"),
        ({**ASKED, "run_id": "../../x"}, "there is no field 'run_id'"),
        ({**ASKED, "messages": [{"role": "nobody"}]}, "the messages of an input are a list"),
        ([1], "the input is an object"),
        ("row_softmax", "the input is an object"),
        ({"author": "playbook"}, "names no task"),
    ],
)
def test_a_request_that_cannot_be_is_one_sentence_and_writes_nothing(tmp_path: Path, fields: Any, why: str) -> None:
    server = Server(tmp_path)
    with pytest.raises(ServedFault, match=why) as caught:
        server.invoke(fields)
    assert "\n" not in str(caught.value)
    assert server.ledger().runs() == ()


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(UsageError, match="no field 'tsk'"):
        request_of({"tsk": "row_softmax"})


@pytest.mark.parametrize(
    ("preset", "why"), [({"sed": 1}, "no field 'sed'"), ({"seed": "x"}, "seed of a request"), ([1], "is an object")]
)
def test_a_context_that_cannot_be_is_one_sentence_and_writes_nothing(tmp_path: Path, preset: Any, why: str) -> None:
    server = Server(tmp_path)
    with pytest.raises(ServedFault, match=why):
        server.invoke(ASKED, context=preset)
    assert server.ledger().runs() == ()


def test_the_same_faults_are_told_to_a_caller_that_waits_for_nothing(tmp_path: Path) -> None:
    server = Server(tmp_path)
    with pytest.raises(ServedFault, match="no field 'tsk'"):
        asyncio.run(server.graph.ainvoke({**ASKED, "tsk": "x"}, server.thread("t")))
    assert server.ledger().runs() == ()


def test_a_field_without_a_value_is_one_that_was_left_out(tmp_path: Path) -> None:
    server = Server(tmp_path)
    result = server.invoke({**ASKED, "target": None, "seed": None, "budget_usd": None, "approve": None})
    [run] = server.ledger().runs()
    assert (run.id, run.target, run.seed) == (result["run_id"], "mi300x", 0)


def test_a_budget_that_the_author_has_no_use_for_leaves_one_run(tmp_path: Path) -> None:
    server = Server(tmp_path)
    result = server.invoke({**ASKED, "budget_usd": 2.5})
    assert [run.id for run in server.ledger().runs()] == [result["run_id"]]


def test_a_run_that_another_process_drives_is_left_alone(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.invoke({**ASKED, "approve": True})
    ledger = server.ledger()
    with ledger.driving(ledger.runs()[0].id), pytest.raises(ServedFault, match="already running in another process"):
        server.invoke(Command(resume=True))
