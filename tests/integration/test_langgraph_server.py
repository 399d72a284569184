"""`langgraph dev` and its SDK on the lab: start, stream, approve, fork, resume, several at once, faults, traces."""

from __future__ import annotations

import json
import os
import site
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
import venv
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from tests.integration.test_open_telemetry import OWN, collector, fields, spans_of
from tests.support.collector import Collector, collecting, metadata
from tests.support.endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
START_S = 120.0
KEYS = ("lsv2-canary-51d2c8e0aa47", "sk-canary-7c1f0e5d9b3a")
ASKED = {"task": "transpose", "author": "playbook", "on": "lab", "limits": {"generations": 1, "picks": 1, "tunings": 1}}


@pytest.fixture(scope="module")
def server() -> Path:
    """The server's own environment over this one, kept in the cache for the next time."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    expected = [*extras["serve"], *extras["otel"]]
    folder = ROOT / ".cache" / "serve" / f"{sys.version_info[0]}.{sys.version_info[1]}"
    stamp = folder / "installed.json"
    built = json.dumps([str(ROOT), sys.prefix, expected])  # an environment over another checkout is no good here
    if not stamp.exists() or stamp.read_text() != built:
        venv.create(folder, with_pip=True, clear=True)
        [packages] = folder.glob("lib/python*/site-packages")
        search_path = [str(ROOT), *site.getsitepackages(), *(p for p in sys.path if p.endswith("site-packages"))]
        (packages / "zz_beneath.pth").write_text("\n".join(dict.fromkeys(search_path)) + "\n")
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input", *expected]
        subprocess.run(install, check=True)
        stamp.write_text(built)
    return folder / "bin" / "langgraph"


@dataclass(frozen=True)
class Watched:
    """A started server, what it asks a model, and where its traces and spans arrive."""

    client: SyncLangGraphClient
    traces: Collector
    spans: list[tuple[str, dict[str, str], bytes]]
    log: Path


@pytest.fixture(scope="module")
def watched(server: Path, compiler_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("served")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = ScriptedEndpoint(lambda body: Answer(f"no plan {KEYS[1]}"))
    with collecting() as traces, collector() as (address, spans), model:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KERNEL_SCIENTIST_RUNS_FOLDER": str(folder / "runs"),
            "KERNEL_SCIENTIST_CACHE_FOLDER": str(compiler_cache),
            "KERNEL_SCIENTIST_TELEMETRY": "true",
            "KERNEL_SCIENTIST_TRACE_SOURCES": "digest",
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_ENDPOINT": traces.url,
            "LANGSMITH_API_KEY": KEYS[0],
            "LANGSMITH_PROJECT": "mine",
            "OPENAI_API_KEY": KEYS[1],
            "OPENAI_BASE_URL": model.url,
            "LANGGRAPH_NO_VERSION_CHECK": "true",
        }
        start = [str(server), "dev", "--port", str(port), "--no-browser", "--no-reload", "--n-jobs-per-worker", "4"]
        (folder / "langgraph.json").write_text(json.dumps(from_elsewhere()))
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(start, cwd=folder, env=environment, stdout=log, stderr=log)
        url, until = f"http://127.0.0.1:{port}", time.monotonic() + START_S
        try:
            while not answers(url):
                assert process.poll() is None and time.monotonic() < until, (folder / "log").read_text()[-3000:]
                time.sleep(0.2)
            with get_sync_client(url=url) as client:
                yield Watched(client, traces, spans, folder / "log")
        finally:
            process.terminate()
            process.wait()


def from_elsewhere() -> dict[str, Any]:
    """The configuration for a server in another folder: one in the checkout takes up what another left there."""
    config = json.loads((ROOT / "langgraph.json").read_text())
    graphs = {name: str((ROOT / path).resolve()) for name, path in config["graphs"].items()}
    page = {"app": str((ROOT / config["http"]["app"]).resolve())}
    return {
        **config,
        "http": page,
        "dependencies": [str(ROOT / path) for path in config["dependencies"]],
        "graphs": graphs,
    }


@pytest.fixture
def client(watched: Watched) -> SyncLangGraphClient:
    return watched.client


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/ok", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def test_schemas_and_the_drawing_with_the_experiment_come_from_the_server(client: SyncLangGraphClient) -> None:
    [assistant] = client.assistants.search()
    schemas = client.assistants.get_schemas(assistant["assistant_id"])
    for name in ("input_schema", "output_schema", "state_schema", "context_schema"):
        fields_of: Any = schemas[name]["properties"]  # type: ignore[literal-required]
        assert [field for field, told in fields_of.items() if not told.get("description")] == []
    assert {"task", "messages", "author", "limits"} <= set(schemas["input_schema"]["properties"])  # type: ignore[index]
    drawn = client.assistants.get_graph(assistant["assistant_id"], xray=True)
    assert "experiment:benchmark" in {node["id"] for node in drawn["nodes"]}


def test_a_run_streams_waits_for_approval_and_is_resumed_then_forked(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    request = {**ASKED, "approve": True}
    modes: Any = ["updates", "custom"]
    parts = list(client.runs.stream(thread, "scientist", input=request, stream_mode=modes, stream_subgraphs=True))
    assert "attempt" in {part.data.get("event") for part in parts if part.event.startswith("custom")}
    assert any(part.event.startswith("updates|open_run") for part in parts)
    [waiting] = client.threads.get_state(thread)["interrupts"]
    assert [row["id"] for row in waiting["value"]["experiments"]] == ["g001-e1"]
    on = list(
        client.runs.stream(thread, "scientist", command={"resume": True}, stream_mode=modes, stream_subgraphs=True)
    )
    assert any(part.event.startswith("updates|experiment") for part in on)
    final: Any = client.threads.get_state(thread)["values"]
    assert final["stop"] and Path(final["result"]["best"]["path"]).is_file()
    assert client.runs.wait(thread, "scientist", command={"resume": True})["result"] == final["result"]  # type: ignore[index,call-overload]
    snapshot = next(s for s in client.threads.get_history(thread, limit=50) if s["next"] == ["select"])
    changed = {"limits": {"generations": 1, "picks": 1, "tunings": 2}, "approve": False}
    fork = client.threads.update_state(thread, changed, checkpoint=snapshot["checkpoint"])
    forked: Any = client.runs.wait(thread, "scientist", input=None, checkpoint=fork["checkpoint"])
    assert forked["run_id"] != final["run_id"] and forked["run_id"].startswith(final["run_id"])
    assert forked["stop"] == final["stop"]


def test_what_a_person_refuses_is_not_run(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "scientist", input={**ASKED, "seed": 6, "approve": True})
    assert client.threads.get(thread)["status"] == "interrupted"
    final: Any = client.runs.wait(thread, "scientist", command={"resume": False})
    assert final["stop"] and final["result"]["best"]["id"].startswith("g000")
    steps = [name for step in client.threads.get_history(thread, limit=50) for name in step["next"]]
    assert "approve" in steps and "experiment" not in steps


def test_two_runs_go_on_at_once(client: SyncLangGraphClient) -> None:
    def one(seed: int) -> Any:
        return client.runs.wait(None, "scientist", input={**ASKED, "seed": seed})

    with ThreadPoolExecutor() as pool:
        results = list(pool.map(one, (1, 2)))
    assert len({f["run_id"] for f in results}) == 2
    assert all(f["result"]["accepted"] >= 1 for f in results)


@pytest.mark.parametrize(
    ("request_fields", "why"),
    [
        ({"task": "no_such_task"}, "there is no task 'no_such_task'"),
        ({**ASKED, "generatons": 5}, "there is no field 'generatons' in an input"),
        ({**ASKED, "author": "shakespeare"}, "--author is llm, playbook or command"),
        ({**ASKED, "limits": {"generations": -1}}, "the limit generations is a whole number from 1"),
    ],
)
def test_a_request_that_cannot_be_is_told_in_a_sentence(
    client: SyncLangGraphClient, request_fields: Any, why: str
) -> None:
    answer: Any = client.runs.wait(None, "scientist", input=request_fields, raise_error=False)
    assert why in answer["__error__"]["message"]


def test_two_inputs_on_one_thread_follow_each_other_and_invalid_json_is_refused(client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    runs = [
        client.runs.create(thread, "scientist", input={**ASKED, "seed": n}, multitask_strategy="enqueue")
        for n in (3, 4)
    ]
    results: Any = [client.runs.join(thread, run["run_id"]) for run in runs]
    assert all(r["stop"] for r in results)
    url = f"{str(client.http.client.base_url).rstrip('/')}/runs/wait"
    request = urllib.request.Request(url, b'{"assistant_id": ', {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    caught.value.close()
    assert 400 <= caught.value.code < 500


def within(seconds: float, produce: Callable[[], Any]) -> Any:
    """What arrives in time, or what there is then."""
    until = time.monotonic() + seconds
    while not (result := produce()) and time.monotonic() < until:
        time.sleep(0.2)
    return result


def test_spans_of_the_server_reach_a_collector_as_those_of_the_command_line(watched: Watched) -> None:
    final: Any = watched.client.runs.wait(None, "scientist", input={**ASKED, "seed": 5})

    def trace() -> list[Any]:
        spans = spans_of(list(watched.spans))
        mine = {"gen_ai.conversation.id": final["run_id"], f"{OWN}status": "done"}
        roots = [s for s in spans if not s.parent_span_id and fields(s).items() >= mine.items()]
        return [s for s in spans if roots and s.trace_id == roots[0].trace_id]

    by_name = {span.name: span for span in within(30, trace)}
    run, verdict = by_name["invoke_workflow kernel-scientist"], by_name["verdict g001-e1-a0"]
    assert by_name["experiment g001-e1"].parent_span_id == run.span_id
    assert verdict.parent_span_id == by_name["experiment g001-e1"].span_id


def test_calls_to_a_model_are_spans_and_traced_steps_with_tokens_and_no_key(watched: Watched) -> None:
    final: Any = watched.client.runs.wait(None, "scientist", input={**ASKED, "author": "llm"}, raise_error=False)
    assert final["run_id"], final

    def calls() -> list[Any]:
        attributes = [fields(s) for s in spans_of(list(watched.spans)) if s.name.startswith("chat ")]
        return [f for f in attributes if f["gen_ai.conversation.id"] == final["run_id"]]

    def scored() -> list[Any]:
        return [r for r in watched.traces.runs() if any(f["run_id"] == r["id"] for f in watched.traces.feedback)]

    attributes = within(30, calls)
    assert {f["gen_ai.usage.output_tokens"] for f in attributes} == {7}
    assert all(f["gen_ai.usage.input_tokens"] > 11 for f in attributes)  # fewer than the prompts can have: not believed
    roots = within(30, lambda: [r for r in scored() if metadata(r).get("run") == final["run_id"]])
    [root] = roots
    assert root["name"] == "kernel-scientist" and root["session_name"] == "mine"
    assert {"transpose", "mi300x"} <= set(root["tags"])
    keys = {f["key"] for f in watched.traces.feedback if f["run_id"] == root["id"]}
    assert {"accepted", "cost"} <= keys
    # The server reports its own use to LangSmith, with the key in the body: that is not a trace.
    traces = [body for body in watched.traces.bodies if {"post", "patch"} & json.loads(body).keys()]
    everything = b"".join([*(body for _, _, body in watched.spans), *traces, watched.log.read_bytes()])
    assert [key for key in KEYS if key.encode() in everything] == []
    assert b"__global__" not in everything  # sources are sent as digests
