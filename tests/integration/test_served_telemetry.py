"""Spans and the event log of runs that a server drives: the tree of the command line, pauses, forks and redaction."""

from __future__ import annotations

import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from pydantic import SecretStr

from agents.author import Draft, Specimen, Step
from agents.model.conversation import Message
from agents.model.gateway import Gateway
from agents.model.structured_output import Form
from app.settings import Settings
from app.span_export import has_packages
from app.wiring import make_endpoint
from graph.serving import ServedFault
from records.errors import MachineError
from tests.integration.test_open_telemetry import OWN, collector, fields, spans_of
from tests.integration.test_trace_content import KEYS, MARK, PLANTED, SHAPES
from tests.support.endpoint import Answer, ScriptedEndpoint
from tests.support.scripted_run import faster
from tests.support.served import ASKED, Server

if not has_packages():
    pytest.skip("the extra otel is not installed", allow_module_level=True)
ONE = {**ASKED, "limits": {"generations": 1, "picks": 1}}


@contextmanager
def traced(folder: Path, **more: Any) -> Iterator[tuple[Server, Any]]:
    """A server whose author asks a model over HTTP, with secrets in prompts and answers, and what arrives."""
    with collector() as (address, requests), ScriptedEndpoint(lambda body: Answer(f"here it is {PLANTED}")) as model:
        keys = {name: SecretStr(value) for name, value in KEYS.items()}
        fields_given = {
            "telemetry": True,
            "otlp_endpoint": address,
            "base_url": model.url,
            "runs_folder": folder / "runs",
        }
        options = Settings(_env_file=None, **{**keys, **fields_given, **more})  # type: ignore[call-arg]

        def ask(step: Step, base: Specimen) -> Draft:
            kernel = f"// {PLANTED}\n{MARK}\n{faster(step, base)}"
            gateway = Gateway(make_endpoint(options), server.ledger(), server.artefacts(), 5.0)
            gateway.ask("coder", step, [Message("user", f"Improve it.\n```\n{kernel}```\n")], Form(str), "c")
            return Draft(kernel)

        server = Server(folder, ask, options)
        try:
            yield server, requests
        finally:
            server.service.close()


def events(server: Server, run_id: str) -> list[dict[str, Any]]:
    lines = (server.folder / "runs" / run_id / "events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("mode", ["full", "digest"])
def test_a_served_run_is_the_tree_of_the_command_line(tmp_path: Path, mode: str) -> None:
    with traced(tmp_path, trace_sources=mode) as (server, requests):
        final = server.invoke(ONE)
        server.service.close()
    spans = spans_of(requests)
    [run] = [span for span in spans if not span.parent_span_id]
    assert run.name == "invoke_workflow kernel-scientist"
    about = fields(run)
    assert (about["gen_ai.conversation.id"], about[f"{OWN}status"]) == (final["run_id"], "done")
    by_name = {span.name: span for span in spans}
    experiment, verdict = by_name["experiment g001-e1"], by_name["verdict g001-e1-a0"]
    assert experiment.parent_span_id == run.span_id and verdict.parent_span_id == experiment.span_id
    [call] = [span for span in spans if span.name.startswith("chat ")]
    assert call.parent_span_id == experiment.span_id
    attributes = fields(call)
    assert (attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]) == (11, 7)
    assert {span.trace_id for span in spans} == {run.trace_id}
    everything = b"".join(body for _, _, body in requests)
    assert [secret for secret in (*KEYS.values(), *SHAPES) if secret.encode() in everything] == []
    assert (MARK.encode() in everything) is (mode == "full")


def test_each_part_of_a_run_that_waits_for_approval_is_a_trace_of_the_same_conversation(tmp_path: Path) -> None:
    with traced(tmp_path) as (server, requests):
        server.invoke({**ONE, "approve": True})
        final = server.invoke(Command(resume=True))
        server.service.close()
    roots = [fields(span) for span in spans_of(requests) if not span.parent_span_id]
    assert [(r[f"{OWN}status"], r[f"{OWN}pause"]) for r in roots] == [("paused", "approval"), ("done", "")]
    assert {r["gen_ai.conversation.id"] for r in roots} == {final["run_id"]}
    statuses = [
        (e["event"], e.get("status")) for e in events(server, final["run_id"]) if e["event"] in ("begun", "left")
    ]
    assert statuses == [("begun", None), ("left", "paused"), ("begun", None), ("left", "done")]


def test_runs_at_once_are_traces_of_their_own(tmp_path: Path) -> None:
    with traced(tmp_path) as (server, requests):
        server.writer = faster
        run_ids = {server.invoke({**ONE, "approve": True}, name)["run_id"] for name in "ab"}
        for name in "ba":
            server.invoke(Command(resume=True), name)
        server.service.close()
    spans = spans_of(requests)
    owner = {s.trace_id: fields(s)["gen_ai.conversation.id"] for s in spans if not s.parent_span_id}
    assert set(owner.values()) == run_ids and len(owner) == 4
    attempts = [owner[s.trace_id] for s in spans if s.name == "verdict g001-e1-a0"]
    assert sorted(attempts) == sorted(run_ids)


def test_a_machine_at_fault_ends_the_span_with_an_error(tmp_path: Path) -> None:
    def broken(step: Step, base: Specimen) -> Draft:
        raise MachineError("the compiler has gone")

    with traced(tmp_path) as (server, requests):
        server.writer = broken
        with pytest.raises(ServedFault, match="has gone"):
            server.invoke(ONE)
        server.service.close()
    [run] = [span for span in spans_of(requests) if not span.parent_span_id]
    assert fields(run)["error.type"] == "machine" and run.status.code == run.status.STATUS_CODE_ERROR


def test_a_server_that_stops_in_the_middle_ends_the_spans_it_has(tmp_path: Path) -> None:
    with traced(tmp_path) as (server, requests):
        config = server.thread("t")
        for update in server.graph.stream(ONE, config, stream_mode="updates"):
            if "plan" in update:
                break
        server.service.close()
    assert [fields(s)[f"{OWN}status"] for s in spans_of(requests) if not s.parent_span_id] == ["running"]


def test_nothing_is_sent_unless_asked(tmp_path: Path) -> None:
    with traced(tmp_path, telemetry=False) as (server, requests):
        server.invoke(ONE)
        server.service.close()
    assert requests == []


def test_a_collector_that_is_not_there_is_said_at_once_and_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with traced(tmp_path, otlp_endpoint="http://127.0.0.1:9") as (server, _):
        assert server.invoke(ONE)["stop"]
        server.service.close()
        server.service.close()
    assert capsys.readouterr().err.count("some spans did not reach http://127.0.0.1:9") == 1
