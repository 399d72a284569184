"""A model's endpoint on this machine that answers every role rightly, but for one fault at one role.

The right answers let a run of the whole graph go on: kernels are comments that a sandbox of comments believes. A fault
is a function of the request and its right answer; it may write bytes, hold the connection, or close it.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.endpoint import LocalServer

CUT_MARK = "// of an answer that was cut off"
MOST_REQUESTS = 150  # of a run with a fault; a right one has some 30
PROMPT_TOKENS, ANSWER_TOKENS = 1000, 200
USAGE = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": ANSWER_TOKENS, "total_tokens": 1200}
Document = dict[str, Any]


@dataclass(frozen=True)
class RoleRequest:
    """One request with its right answer, and the how-manieth of its role it is."""

    role: str
    path: str
    body: Document
    right: Document
    number: int


@dataclass(frozen=True)
class HttpReply:
    """A response: what is written, byte by byte where `pause_s`; nothing behind it where `resets`."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = b""  # instead of all that
    pause_s: float = 0.0
    hold_s: float = 0.0
    resets: bool = False


Faulty = Callable[[RoleRequest], HttpReply | None]  # None for the right answer


def reply(document: Any, status: int = 200, **headers: str) -> HttpReply:
    """Write a response with a JSON document."""
    named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpReply(status, json.dumps(document).encode(), named_headers)


class FaultyEndpoint(LocalServer):
    """The server. `fault` is asked for each request of `role`."""

    def __init__(self, role: str, fault: Faulty) -> None:
        self.role, self.fault = role, fault
        self.requests, self.billed, self.is_over = Counter[str](), 0, False
        self._lock = threading.Lock()
        super().__init__(_handler(self))

    @property
    def total(self) -> int:
        """Requests so far."""
        return sum(self.requests.values())

    def answer(self, path: str, body: Document) -> HttpReply:
        """Return the response to one request."""
        role = str(body.get("model"))
        with self._lock:
            self.requests[role] += 1
            number = self.requests[role]
            if self.is_over or self.total > MOST_REQUESTS:
                self.is_over = True
                return reply({"error": {"message": "insufficient_quota"}}, 402)
        request = RoleRequest(role, path, body, right(role, path, body), number)
        response = self.fault(request) if role == self.role else None
        response = response or (reply(request.right) if path != "/nowhere" else reply({"error": "no such path"}, 404))
        with self._lock:
            self.billed += response.status == 200
        return response


def right(role: str, path: str, body: Document) -> Document:
    """Return the right answer of a role, in the format of the path."""
    turns = body.get("messages") or body.get("input") or []
    prompt = "\n".join(str(t.get("content") or t.get("output") or "") for t in turns)
    text, call = "", None
    if role == "coder":
        call, text = _coder(prompt, turns, bool(body.get("tools")))
    elif role == "planner":
        text = json.dumps(
            {"avenues": [f"avenue {n}" for n in range(10)], "experiments": [_experiment(n) for n in range(5)]}
        )
    elif role == "selector":
        ids = list(dict.fromkeys(re.findall(r"g\d{3}-e\d+-a\d+", prompt)))
        text = json.dumps({"rationale": "because", "base_id": ids[0], "reference_id": ids[-1]})
    elif role == "retriever":
        text = json.dumps({"queries": ["lds bank conflicts", "wide loads"]})
    else:
        text = json.dumps({"remarks": [], "approve": True})
    return responses(text, call) if path.endswith("/responses") else chat(text, call)


def chat(text: str | None, call: tuple[str, Document] | None = None, reason: str = "", **more: Any) -> Document:
    """Write a chat completion."""
    message: Document = {"role": "assistant", "content": text or None, **more}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        message["tool_calls"] = [{"id": "call_0", "type": "function", "function": function}]
    ended = reason or ("tool_calls" if call else "stop")
    choice = {"index": 0, "message": message, "finish_reason": ended}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": USAGE}


def responses(text: str, call: tuple[str, Document] | None = None) -> Document:
    """Write an answer of the Responses interface."""
    items: list[Document] = [{"type": "reasoning", "summary": []}]
    if text:
        items.append({"type": "message", "content": [{"type": "output_text", "text": text}]})
    if call:
        items.append({"type": "function_call", "call_id": "call_0", "name": call[0], "arguments": json.dumps(call[1])})
    usage = {"input_tokens": PROMPT_TOKENS, "output_tokens": ANSWER_TOKENS}
    return {"id": "x", "object": "response", "status": "completed", "output": items, "usage": usage}


def kernel(seed: str, is_cut: bool = False) -> str:
    """Write a source that the sandbox of comments believes; one of a cut answer would be the fastest by far."""
    time_us = 1 if is_cut else 20 + sum(seed.encode()) % 60
    mark = f"{CUT_MARK}\n" if is_cut else ""
    return f"{mark}// for {seed}\n// time_us = {time_us}\n// roofline_us = 0.5\n// waves = 4\n// scratch = 64\n"


def _coder(prompt: str, turns: list[Document], has_tools: bool) -> tuple[tuple[str, Document] | None, str]:
    """Answer with a check, then its submission; in text where no tools are offered. The run's question is answered."""
    if "Call the tool `pong`" in prompt:
        return (("pong", {"answer": "pong"}), "") if has_tools else (None, "pong")
    title = prompt.split("# The experiment: ", 1)[1].split("\n", 1)[0] if "# The experiment: " in prompt else "none"
    answers = sum(t.get("role") == "assistant" or t.get("type") == "function_call" for t in turns)
    if has_tools:
        return (("check", {"source": kernel(f"{title} {answers}")}) if not answers else ("submit", {"of": "a0"})), ""
    submission = '```tool\n{"tool": "submit", "of": "a0"}\n```'
    return None, submission if answers else f'```hip\n{kernel(title)}```\n\n```tool\n{{"tool": "check"}}\n```'


def _experiment(number: int) -> Document:
    return {
        "title": f"experiment {number}",
        "description": "why",
        "rubric": [f"change {number}"],
        "performance": {"min": 5.0, "max": 20.0 + number},
        "innovation": 10.0 * number,
    }


def _handler(endpoint: FaultyEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            self.close_connection = True
            try:
                self._tell(endpoint.answer(self.path, body))
            except OSError:  # the client has gone, as it may
                return

        def _tell(self, response: HttpReply) -> None:
            head = "".join(
                f"{n}: {v}\r\n" for n, v in {"Content-Length": str(len(response.body)), **response.headers}.items()
            )
            data = response.raw or f"HTTP/1.1 {response.status} told\r\n{head}\r\n".encode() + response.body
            time.sleep(response.hold_s)
            if response.resets:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            elif response.pause_s:
                for number in range(len(data)):
                    self.connection.sendall(data[number : number + 1])
                    time.sleep(response.pause_s)
            else:
                self.connection.sendall(data)

    return Handler
