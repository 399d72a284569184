"""What a tracing endpoint is sent and any tracer collects: names, tags and metadata that make a run readable."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langsmith import Client
from langsmith.run_helpers import tracing_context

from agents.author import Idea
from graph import Limits, build_graph
from graph.doubles import ScriptedAuthor, table_context, table_task
from graph.drive import drive
from tests.support.bench_run import BenchRun, Script, calling
from tests.support.endpoint import ScriptedEndpoint


@contextmanager
def endpoint() -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """A local stand-in for the service: its address, and the runs it was sent, merged by id."""
    runs: dict[str, dict[str, Any]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            part = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            merged = runs.setdefault(part.get("id") or self.path.split("/")[-1], {})
            merged.update({name: value for name, value in part.items() if value is not None})
            self._answer({})

        do_PATCH = do_POST

        def _answer(self, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", runs
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_traced_run_is_readable(tmp_path: Path) -> None:
    author = ScriptedAuthor(
        lambda generation: [Idea("wider loads", "", (), 1, 2, 3)],
        lambda step, base: f"// {step.experiment_id}\n// time_us = {90 - step.generation}\n",
    )
    context = table_context(
        tmp_path, table_task(tmp_path / "task", "// time_us = 100\n"), author, Limits(generations=2, picks=1)
    )
    with endpoint() as (address, runs):
        client = Client(api_url=address, api_key="none", auto_batch_tracing=False)
        with tracing_context(enabled=True, client=client, project_name="test"):
            drive(context, tmp_path / "checkpoint.db")
        client.close()
    by_name: dict[str, list[dict[str, Any]]] = {}
    for run in runs.values():
        by_name.setdefault(run["name"], []).append(run)
    [root] = by_name["kernel-scientist"]
    assert {"table", "mi300x"} <= set(root["tags"])
    assert {"run": "table-run", "author": "scripted"}.items() <= root["extra"]["metadata"].items()
    for experiment in ("g001-e1", "g002-e1"):
        assert len(by_name[experiment]) == 1
    compiled = [run["extra"]["metadata"] for run in by_name["compile"]]
    assert sorted((m["generation"], m["experiment"]) for m in compiled) == [
        (0, "g000-e0"),
        (1, "g001-e1"),
        (2, "g002-e1"),
    ]
    assert all(m["run"] == "table-run" and m["langgraph_node"] == "compile" for m in compiled)
    drafts = {a.candidate_id for a in context.ledger.attempts("table-run")}
    assert {m["candidate"] for m in compiled} == drafts
    assert sorted(run["extra"]["metadata"]["generation"] for run in by_name["select"]) == [1, 2]


def test_calls_at_the_bench_are_tool_runs_and_candidates_bear_their_outcome_for_any_tracer(tmp_path: Path) -> None:
    turns = [
        calling("search_notes", query="wide loads"),
        calling("check", source="// fail verify wrong\n// time_us = 9\n", why="new"),
        calling("check", source="// time_us = 60\n// roofline_us = 1\n"),
        calling("compare", of="a1"),
        calling("submit"),
    ]
    collector = RunCollectorCallbackHandler()
    with ScriptedEndpoint(Script(lambda title, turn, body: turns[turn])) as server:
        run = BenchRun(tmp_path, server)
        graph = build_graph().compile()
        graph.invoke({"run_id": run.context.run.id}, {"callbacks": [collector]}, context=run.context)
        run.close()

    def below(step: Any) -> list[Any]:
        return [step, *(inner for child in step.child_runs for inner in below(child))]

    [root] = collector.traced_runs
    steps = below(root)
    assert {"begin", "follow", "fan_out", "after_reflect"}.isdisjoint(step.name for step in steps)
    by_id = {step.id: step for step in steps}
    tools = [step for step in steps if step.run_type == "tool"]
    assert [step.name for step in tools] == ["search_notes", "check", "check", "compare", "submit"]
    assert {by_id[step.parent_run_id].name for step in tools} == {"act"}
    wrong, right = tools[1], tools[2]
    assert {"outcome:rejected", "stage:correct", "code:C.1"} <= set(wrong.tags) and "why" in str(wrong.inputs)
    assert "outcome:tried" in right.tags and right.metadata["attempt"] == "g001-e1-a1"
    [experiment] = [step for step in steps if step.name == "g001-e1"]
    assert {tag for tag in experiment.tags if tag.startswith("outcome:")} == {"outcome:accepted"}
    assert not [tag for tag in root.tags if tag.startswith("outcome:")]


def test_without_tracing_nothing_is_sent(tmp_path: Path) -> None:
    author = ScriptedAuthor(lambda generation: [], lambda step, base: "")
    with endpoint() as (address, runs):
        client = Client(api_url=address, api_key="none", auto_batch_tracing=False)
        with tracing_context(enabled=False, client=client):
            drive(
                table_context(tmp_path, table_task(tmp_path / "task", "// time_us = 1\n"), author),
                tmp_path / "checkpoint.db",
            )
        client.close()
    assert runs == {}
