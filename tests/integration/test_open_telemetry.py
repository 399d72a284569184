"""OpenTelemetry at a local collector: spans of run, experiments, verdicts and calls, no key, no stuck exit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest

from app.open_telemetry import OWN
from app.span_export import has_packages
from records.program_version import program_version
from tests.integration.test_trace_content import KEYS, MARK, SHAPES, Traced, settings
from tests.support.endpoint import Answer, ScriptedEndpoint
from tests.support.few import few

ROOT = Path(__file__).resolve().parents[2]
if not has_packages():
    pytest.skip("the extra otel is not installed", allow_module_level=True)


@contextmanager
def collector(answers: bool = True) -> Iterator[tuple[str, list[tuple[str, dict[str, str], bytes]]]]:
    """Takes OTLP over HTTP; one that does not answer holds what it is sent."""
    requests: list[tuple[str, dict[str, str], bytes]] = []
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            if not answers:
                stopped.wait()
                return
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def resources_of(requests: list[tuple[str, dict[str, str], bytes]]) -> list[Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    resources: list[Any] = []
    for _, _, body in requests:
        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        resources += request.resource_spans
    return resources


def spans_of(requests: list[tuple[str, dict[str, str], bytes]]) -> list[Any]:
    return [span for resource in resources_of(requests) for scope in resource.scope_spans for span in scope.spans]


def services_of(requests: list[tuple[str, dict[str, str], bytes]]) -> set[tuple[str, str]]:
    attributes = [fields(resource.resource) for resource in resources_of(requests)]
    return {(about["service.name"], about["service.version"]) for about in attributes}


def fields(span: Any) -> dict[str, Any]:
    values = {}
    for pair in span.attributes:
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        values[pair.key] = [v.string_value for v in value.values] if kind == "array_value" else value
    return values


def drive(folder: Path, address: str, **more: Any) -> None:
    with ScriptedEndpoint(lambda body: Answer("here it is")) as model:
        options = settings(folder, None, model.url, **more)
        options = options.model_copy(update={"tracing": False, "telemetry": True, "otlp_endpoint": address})
        assert Traced(folder, options).session.drive(lambda _: None).accepted == 2


@pytest.fixture(scope="module", autouse=True)
def notes(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.integration import test_trace_content

    test_trace_content.NOTES = tmp_path_factory.mktemp("notes")


@pytest.mark.parametrize("mode", ["full", "digest"])
def test_a_run_is_a_tree_of_spans_with_conventional_names_and_no_key(tmp_path: Path, mode: str) -> None:
    from pydantic import SecretStr

    with collector() as (address, requests):
        drive(tmp_path, address, trace_sources=mode, otlp_headers=SecretStr("x-key=otlp-canary-77aa,other=1"))
    assert {path for path, _, _ in requests} == {"/v1/traces"}
    assert requests[0][1]["x-key"] == "otlp-canary-77aa" and requests[0][1]["other"] == "1"
    assert services_of(requests) == {("kernel-scientist", program_version())}
    spans = spans_of(requests)
    by_name = {span.name: span for span in spans}
    [run] = [span for span in spans if not span.parent_span_id]
    assert run.name == "invoke_workflow kernel-scientist"
    about = fields(run)
    assert (about["gen_ai.operation.name"], about[f"{OWN}run"], about[f"{OWN}status"]) == (
        "invoke_workflow",
        "table-run",
        "done",
    )
    experiment, verdict = by_name["experiment g001-e1"], by_name["verdict g001-e1-a0"]
    assert experiment.parent_span_id == run.span_id and verdict.parent_span_id == experiment.span_id
    assert fields(verdict)[f"{OWN}status"] == "accepted" and round(fields(verdict)[f"{OWN}geomean_us"]) == 50
    assert [event.name for event in verdict.events] == ["gen_ai.evaluation.result"]
    [call] = [span for span in spans if span.name.startswith("chat ")]
    attributes = fields(call)
    assert call.parent_span_id == experiment.span_id and call.kind == call.SPAN_KIND_CLIENT
    assert (attributes["gen_ai.operation.name"], attributes["gen_ai.provider.name"]) == ("chat", "openai")
    assert (attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]) == (11, 7)
    assert attributes["gen_ai.conversation.id"] == "table-run" and attributes["server.address"] == "127.0.0.1"
    assert "here it is" in attributes["gen_ai.output.messages"]
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in spans)
    everything = b"".join(body for _, _, body in requests)
    secrets = (*KEYS.values(), *SHAPES, "otlp-canary-77aa")
    assert [secret for secret in secrets if secret.encode() in everything] == []
    assert (MARK.encode() in everything) is (mode == "full")


@pytest.mark.parametrize("address", few(["http://127.0.0.1:9", ""], 2))
def test_a_collector_that_is_not_there_or_silent_is_said_and_holds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    with collector(answers=False) as (silent, _):
        drive(tmp_path, address or silent)
        waited_for = [t.name for t in threading.enumerate() if not t.daemon and t is not threading.main_thread()]
    assert waited_for == []
    assert "some spans did not reach" in capsys.readouterr().err


def test_nothing_is_sent_unless_asked(tmp_path: Path) -> None:
    with collector() as (address, requests), ScriptedEndpoint(lambda body: Answer("x")) as model:
        options = settings(tmp_path, None, model.url).model_copy(update={"tracing": False, "otlp_endpoint": address})
        Traced(tmp_path, options).session.drive(lambda _: None)
    assert requests == []


@pytest.mark.parametrize("variable", few(["KERNEL_SCIENTIST_TELEMETRY", "LANGSMITH_OTEL_ENABLED"], 2))
def test_without_its_packages_it_is_refused_in_a_sentence(tmp_path: Path, variable: str) -> None:
    program = (
        "import sys\nsys.modules['opentelemetry.exporter.otlp.proto.http'] = None\n"
        f"sys.path.insert(0, {str(ROOT)!r})\nfrom app.cli import main\nmain()\n"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), variable: "true", "LANGSMITH_TRACING": "true"}
    words = [sys.executable, "-c", program, "run", "transpose", "--author", "playbook", "--on", "lab"]
    process = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 2 and variable in process.stderr and "Traceback" not in process.stderr
