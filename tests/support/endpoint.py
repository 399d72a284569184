"""A local OpenAI-compatible endpoint for tests: answers from a script or a function, faults on demand, all recorded.

    with ScriptedEndpoint(["hello", Fault(429), Answer("bye", finish_reason="length")]) as server:
        ... server.url ... server.requests ...

Also plain enough to stand in for a tracing service: any POST that is not a chat request is recorded and answered `{}`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Answer:
    """A chat completion."""

    text: str | None
    finish_reason: str | None = "stop"
    usage: Mapping[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )
    tool_calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()  # name, arguments
    delay_s: float = 0.0


@dataclass(frozen=True)
class Fault:
    """An HTTP error; `status` 0 closes the connection without a word."""

    status: int
    message: str = "scripted fault"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


@dataclass(frozen=True)
class Page:
    """A body as it is, with its own status and type: an HTML page, broken JSON."""

    body: str
    status: int = 200
    content_type: str = "text/html"


Step = Answer | Fault | Page | str
Script = Iterable[Step] | Callable[[dict[str, Any]], Step]


@dataclass(frozen=True)
class Recorded:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class _Listener(ThreadingHTTPServer):
    request_queue_size = 128  # the kernel resets connections beyond it, of callers that all begin at once
    daemon_threads = True


class LocalServer:
    """An HTTP server on a port of 127.0.0.1, from `with` to its end."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = _Listener(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class ScriptedEndpoint(LocalServer):
    """Serves on 127.0.0.1; a script that has ended answers 410, which no client retries."""

    def __init__(self, script: Script, models: tuple[str, ...] = ("scripted",)) -> None:
        self._function = script if callable(script) else None
        self._left = iter(() if callable(script) else script)
        self._lock = threading.Lock()
        self._models = models
        self.requests: list[Recorded] = []  # chat requests
        self.others: list[Recorded] = []  # everything else that was posted
        super().__init__(_handler(self))

    def answer(self, request: Recorded) -> Step:
        """The next step of the script for this request."""
        with self._lock:
            self.requests.append(request)
            if self._function is None:
                return next(self._left, Fault(410, "the script has ended"))
        return self._function(request.body)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """What another POST is answered with; None for an empty object."""
        return None

    def listing(self) -> dict[str, Any]:
        """What GET /models says."""
        rows = [{"id": m, "object": "model", "created": 0, "owned_by": "tests"} for m in self._models]
        return {"object": "list", "data": rows}


def _handler(endpoint: ScriptedEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            return

        def do_GET(self) -> None:
            if self.path.endswith("/models"):
                return self._send(200, endpoint.listing())
            return self._send(200, {"batch_ingest_config": {"use_multipart_endpoint": False, "size_limit": 100}})

        def do_PATCH(self) -> None:  # a tracing client's update of a run
            self.do_POST()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = Recorded(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(raw or b"{}"))
            if not self.path.endswith("/chat/completions"):
                endpoint.others.append(request)
                return self._send(200, endpoint.post(self.path, request.body) or {})
            step = endpoint.answer(request)
            step = Answer(step) if isinstance(step, str) else step
            if isinstance(step, Page):
                return self._bytes(step.status, step.body.encode(), step.content_type, {})
            time.sleep(step.delay_s)
            if isinstance(step, Fault):
                if step.status == 0:
                    self.close_connection = True
                    return None
                return self._send(step.status, {"error": {"message": step.message, "type": "scripted"}}, step.headers)
            return self._send(200, completion(step, str(request.body.get("model"))))

        def _send(self, status: int, document: Any, headers: Mapping[str, str] | None = None) -> None:
            self._bytes(status, json.dumps(document).encode(), "application/json", headers or {})

        def _bytes(self, status: int, body: bytes, kind: str, headers: Mapping[str, str]) -> None:
            try:
                self.send_response(status)
                for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):  # the client gave up waiting, as it was meant to
                self.close_connection = True

    return Handler


def completion(answer: Answer, model: str) -> dict[str, Any]:
    """The JSON document of a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{i}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for i, (name, arguments) in enumerate(answer.tool_calls)
        ]
    document = {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
    }
    return document if answer.usage is None else {**document, "usage": dict(answer.usage)}
