"""Traces that a person can read: what they hold, what they never hold, feedback, a link, and a dead endpoint."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from langsmith.run_helpers import tracing_context
from pydantic import SecretStr

from agents.author import Draft, Idea, Specimen, Step
from agents.model.conversation import Message
from agents.model.gateway import Gateway
from agents.model.structured_output import Form
from app.session import Session
from app.settings import Settings
from app.tracing import ANSWER_S, FLUSH_S, Traces, tracing_here
from app.wiring import StoredLiterature, make_endpoint
from graph import Limits, build_graph
from graph.doubles import ScriptedAuthor, table_context, table_task
from knowledge.store import KnowledgeStore
from tests.support.collector import PROJECT_ID, TENANT, Collector, collecting, metadata
from tests.support.endpoint import Answer, ScriptedEndpoint

KEYS = {
    "api_key": "sk-canary-7c1f0e5d9b3a",
    "langsmith_api_key": "lsv2-canary-51d2c8e0aa47",
    "worker_token": "worker-canary-2b7d19f0c4e8",
    "spool_key": "spool-canary-90ab34cd56ef",
}
SHAPES = (  # put together here, so that no scanner takes this file for a leak
    "sk-" + "A1b2C3d4" * 5,
    "sk-ant-" + "x9Y8" * 8,
    "ghp_" + "Zz09" * 9,
    "AKIA" + "ABCDEFGH12345678",
    "AIza" + "aB3_" * 8 + "xyz",
    "lsv2_pt_" + "0a1b" * 8,
    "glpat-" + "q1W2" * 5,
    "xoxb-" + "1234567890-abc",
)
MARK = "int source_canary_of_a_kernel = 42;"
PLANTED = " ".join((*KEYS.values(), *SHAPES))


def settings(folder: Path, collector: Collector | None, model: str, **more: Any) -> Settings:
    address = collector.url if collector is not None else "http://127.0.0.1:9"
    keys = {name: SecretStr(value) for name, value in KEYS.items()}
    fields = {"tracing": True, "langsmith_endpoint": address, "langsmith_project": "mine", "base_url": model}
    return Settings(_env_file=None, runs_folder=folder / "runs", **{**keys, **fields, **more})  # type: ignore[call-arg]


NOTES = Path()


class ReadingAuthor(ScriptedAuthor):
    reads = True


class Traced:
    """A run whose author asks a model over HTTP, with secrets planted in ideas, prompts, answers and kernels."""

    def __init__(self, folder: Path, options: Settings) -> None:
        task = table_task(folder / "task", f"// time_us = 100\n// roofline_us = 5\n{MARK}\n")
        self.context = table_context(
            folder / "runs", task, ReadingAuthor(self.ideas, self.write), Limits(generations=1, picks=1)
        )
        shelf = StoredLiterature(KnowledgeStore(NOTES / "store"))
        self.context = type(self.context)(**{**vars(self.context), "literature": shelf})
        self.gateway = Gateway(make_endpoint(options), self.context.ledger, self.context.artefacts, 5.0)
        run_folder = folder / "runs" / self.context.run.id
        run_folder.mkdir(parents=True)
        self.session = Session(options, self.context, run_folder)

    def ideas(self, generation: int) -> Sequence[Idea]:
        return [Idea(f"wider loads {PLANTED}", "try it", ("do it",), 5, 50, 10)]

    def write(self, step: Step, base: Specimen) -> Draft:
        kernel = f"// time_us = 50\n// roofline_us = 5\n// {PLANTED}\n{MARK}\n"
        self.gateway.ask("coder", step, [Message("user", f"Improve it.\n```\n{kernel}```\n")], Form(str), "c")
        return Draft(kernel)


def drive(folder: Path, collector: Collector | None, **more: Any) -> list[dict[str, Any]]:
    answer = json.dumps({"source": f"// {PLANTED}\n{MARK}\n\n// end"})
    with ScriptedEndpoint(lambda body: Answer(answer)) as model:
        options = settings(folder, collector, model.url, **more)
        with tracing_here(options):
            assert Traced(folder, options).session.drive(lambda _: None).accepted == 2
    return collector.runs() if collector is not None else []


@pytest.fixture(scope="module", autouse=True)
def notes(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One store for all runs: it is filled once."""
    global NOTES
    NOTES = tmp_path_factory.mktemp("notes")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with collecting() as collector:
        runs = drive(tmp_path_factory.mktemp("full"), collector)
        yield collector, {name: [r for r in runs if r["name"] == name] for name in {r["name"] for r in runs}}


def test_nodes_hold_the_verdict_the_times_and_the_kernel(full: Any) -> None:
    _, by_name = full
    facts = [r["outputs"]["told"] for r in by_name["benchmark"]]
    assert {t["geomean_us"] for t in facts} == {50.0, 100.0}
    assert all(t["verdict"] == "accepted" and MARK in t["kernel"] and "registers" in t for t in facts)
    assert by_name["reflect"][0]["inputs"]["told"]["speedup_over_seed"] == 1.0


def test_passages_are_a_retriever_run_under_its_node(full: Any) -> None:
    _, by_name = full
    [node], retrievers = by_name["retrieve"], by_name["notes"]
    notes, *_ = [run for run in retrievers if run["parent_run_id"] == node["id"]]
    assert {run["run_type"] for run in retrievers} == {"retriever"}
    assert notes["inputs"]["query"] and notes["outputs"]["documents"][0]["page_content"]
    assert notes["outputs"]["documents"][0]["metadata"]["title"]


def test_a_call_is_an_llm_run_with_prompt_reply_tokens_and_cost(full: Any) -> None:
    _, by_name = full
    [call] = by_name["coder"]
    assert call["run_type"] == "llm"
    assert "Improve it." in json.dumps(call["inputs"]) and "source_canary" in json.dumps(call["outputs"])
    used = call["outputs"]["usage_metadata"]
    assert (used["input_tokens"], used["output_tokens"]) == (11, 7)
    assert used["total_cost"] == pytest.approx(11 * 1.25e-6 + 7 * 10e-6)


def test_the_root_has_its_name_labels_project_and_feedback(full: Any, capsys: pytest.CaptureFixture[str]) -> None:
    collector, by_name = full
    [root] = by_name["kernel-scientist"]
    assert root["session_name"] == "mine" and {"table", "mi300x"} <= set(root["tags"])
    scores = {f["key"]: f["score"] for f in collector.feedback if f["run_id"] == root["id"]}
    assert set(scores) == {"accepted", "speedup", "roofline_fraction", "cost"}
    assert (scores["accepted"], scores["speedup"]) == (1.0, 2.0) and scores["cost"] > 0
    [experiment] = by_name["g001-e1"]
    told = {f["key"]: (f.get("score"), f.get("value")) for f in collector.feedback if f["run_id"] == experiment["id"]}
    expected = {"outcome": (1.0, "accepted"), "stage": (None, "time"), "code": (None, "OK"), "time_us": (50.0, None)}
    assert told == expected and {"outcome:accepted", "code:OK"} <= set(experiment["tags"])


@pytest.mark.parametrize("mode", ["full", "digest", "off"])
def test_no_planted_secret_is_sent_and_sources_only_in_full(tmp_path: Path, mode: str) -> None:
    with collecting() as collector:
        runs = drive(tmp_path, collector, trace_sources=mode)
    everything = b"".join(collector.bodies) + json.dumps(collector.feedback).encode()
    assert [secret for secret in (*KEYS.values(), *SHAPES) if secret.encode() in everything] == []
    assert (b"source_canary_of_a_kernel" in everything) is (mode == "full")
    assert (b"sha256 " in everything) is (mode == "digest")
    assert {"benchmark", "coder", "notes"} <= {r["name"] for r in runs}


def test_a_link_to_the_trace_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with collecting() as collector:
        runs = drive(tmp_path, collector)
    [root] = [r for r in runs if r["name"] == "kernel-scientist"]
    assert f"/o/{TENANT}/projects/p/{PROJECT_ID}/r/{root['id']}" in capsys.readouterr().err


def test_a_graph_that_is_invoked_from_python_is_labelled_too(tmp_path: Path) -> None:
    with collecting() as collector, ScriptedEndpoint(lambda body: "x") as model:
        options = settings(tmp_path, collector, model.url)
        traced = Traced(tmp_path, options)
        with tracing_here(options):
            build_graph().compile().invoke({"run_id": traced.context.run.id}, context=traced.context)
        runs = collector.runs()
    [root] = [r for r in runs if not r.get("parent_run_id")]
    assert root["name"] == "kernel-scientist" and root["session_name"] == "mine"
    assert {"table", "mi300x"} <= set(root["tags"])
    assert metadata(root).items() >= {"run": "table-run", "task": "table", "author": "scripted"}.items()


def test_traces_of_others_stay_as_they_are(tmp_path: Path) -> None:
    with collecting() as collector, ScriptedEndpoint(lambda body: "x") as model:
        theirs = Traces(settings(tmp_path, collector, model.url)).client
        with tracing_context(enabled=True, client=theirs, project_name="theirs"):
            options = settings(tmp_path, collector, model.url, tracing=False)
            with tracing_here(options):
                Traced(tmp_path, options).session.drive(lambda _: None)
        theirs.close()
    assert collector.runs() == []


def test_a_dead_endpoint_is_said_and_waited_for_briefly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ANSWER_S + FLUSH_S <= 2.0
    drive(tmp_path, None)
    stderr = capsys.readouterr().err
    assert "some traces did not reach http://127.0.0.1:9" in stderr
    assert not any(secret in stderr for secret in KEYS.values())
