"""The faults of `benchmarks.model_faults`, each a function of a request and its right answer.

`passing`: once, the server is healthy before and behind it; a run must finish. `quirk`: a server that is so and stays
so; a run must finish. `answer`: one strange answer; a run must finish. `cut`: an answer that ended too early; none of
it may be accepted. `lasting`: every request of the role; the run must end by itself, with few requests.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from itertools import pairwise
from typing import Any, Literal

from benchmarks.faulty_endpoint import Document, Faulty, HttpReply, RoleRequest, reply
from benchmarks.model_fault_answers import cuts, strange

Kind = Literal["passing", "quirk", "answer", "cut", "lasting"]
DEADLINE_S = 0.5  # of a whole call in these runs


@dataclass(frozen=True)
class ModelFault:
    """One row of the table. A contradiction is a refusal of what was taken before: no fault of a first request."""

    name: str
    kind: Kind
    act: Faulty
    contradicts: bool = False


def once(response: HttpReply, number: int = 1) -> Faulty:
    """Give the response for one request of the role, the first one or a later one."""
    return lambda request: response if request.number == number else None


def always(response: HttpReply) -> Faulty:
    """Give the response for every request of the role."""
    return lambda request: response


def table() -> list[ModelFault]:
    """List all rows."""
    answers = [ModelFault(name, "answer", act) for name, act in strange()]
    cut = [ModelFault(name, "cut", act) for name, act in cuts()]
    servers = [*statuses(), *waits(), *connections(), *no_answers(), *quirks(), *windows()]
    return [*servers, *answers, *cut, *lasting()]


def error(message: str, **more: Any) -> Document:
    """Write the usual document of a refusal."""
    return {"error": {"message": message, "type": "error", **more}}


def statuses() -> Iterator[ModelFault]:
    """Yield statuses that pass."""
    for status in (408, 409, 423, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529, 530):
        yield ModelFault(f"HTTP {status}", "passing", once(reply(error("a fault"), status)))
    for status in (502, 503):
        page = HttpReply(status, b"<html><h1>Bad gateway</h1></html>", {"Content-Type": "text/html"})
        yield ModelFault(f"HTTP {status} with a page", "passing", once(page))
    yield ModelFault("HTTP 503 without a body", "passing", once(HttpReply(503)))
    for status in (401, 403, 404):
        yield ModelFault(f"HTTP {status} once", "passing", once(reply(error("no"), status)), True)
    yield ModelFault("overloaded, by words", "passing", once(reply(error("The model is overloaded"), 503)))
    yield ModelFault("loading, llama.cpp", "passing", once(reply(error("Loading model", code=503), 503)))


def waits() -> Iterator[ModelFault]:
    """Yield all forms of a wait."""
    soon, past = formatdate(time.time() + 900, usegmt=True), formatdate(0, usegmt=True)
    forms: Mapping[str, dict[str, str]] = {
        "seconds": {"Retry_After": "1"},
        "a fraction": {"Retry_After": "0.2"},
        "a date": {"Retry_After": soon},
        "a date that is past": {"Retry_After": past},
        "below nothing": {"Retry_After": "-3"},
        "no number": {"Retry_After": "soon"},
        "not a number": {"Retry_After": "nan"},
        "without end": {"Retry_After": "inf"},
        "milliseconds": {"retry_after_ms": "120"},
        "a duration": {"x_ratelimit_reset_requests": "6m0s", "x_ratelimit_remaining_requests": "0"},
        "a moment of the epoch": {"x_ratelimit_reset": str(int(time.time()) + 30)},
        "ISO 8601": {"anthropic_ratelimit_requests_reset": "2099-01-01T00:00:00Z", "Retry_After": "2"},
        "the draft of the IETF": {"RateLimit_Reset": "20", "RateLimit_Remaining": "0"},
    }
    for name, headers in forms.items():
        yield ModelFault(
            f"HTTP 429, wait as {name}", "passing", once(reply(error("too many requests"), 429, **headers))
        )
    for text in ("Rate limit reached, Limit 30000, Used 29000. Please try again in 1m2.5s.", '"retryDelay": "34s"'):
        yield ModelFault(f"HTTP 429, {text[:20]}", "passing", once(reply(error(text), 429)))


def connections() -> Iterator[ModelFault]:
    """Yield connections that break, and those that never end."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    yield ModelFault("reset", "passing", once(HttpReply(resets=True)))
    yield ModelFault("closed without a word", "passing", once(HttpReply(raw=b" ")))
    yield ModelFault("half of the headers", "passing", once(HttpReply(raw=head)))
    yield ModelFault("fewer bytes than said", "passing", once(HttpReply(raw=head + b"Content-Length: 999\r\n\r\n{")))
    yield ModelFault(
        "a chunk that ends early", "passing", once(HttpReply(raw=head + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{"))
    )
    yield ModelFault("no HTTP", "passing", once(HttpReply(raw=b"\x00\xff\xfe nonsense\r\n\r\n")))
    yield ModelFault("silence", "passing", once(HttpReply(hold_s=3 * DEADLINE_S)))
    drip = HttpReply(200, b"{" * 1000, pause_s=DEADLINE_S / 5)
    yield ModelFault("a byte from time to time", "passing", once(drip))
    slow_head = HttpReply(raw=head + b"X: " + b"a" * 1000, pause_s=DEADLINE_S / 5)
    yield ModelFault("headers from time to time", "passing", once(slow_head))


def no_answers() -> Iterator[ModelFault]:
    """Yield bodies with a status of success that are no answer."""
    texts = {
        "a page": "<html>login</html>",
        "half of a document": '{"choices": [',
        "nothing": "",
        "null": "null",
        "a list": "[]",
        "an empty object": "{}",
        "a number": "7",
        "no choices": '{"choices": [], "usage": null}',
        "choices of null": '{"choices": null}',
        "a choice of null": '{"choices": [null]}',
        "a message of null": '{"choices": [{"message": null, "finish_reason": "stop"}]}',
        "an error as text": '{"error": "upstream connect error"}',
        "an error as object": '{"error": {"message": "upstream failed", "code": "server_error"}}',
        "an error with a status": '{"error": {"message": "busy", "code": 503}}',
        "an error of FastAPI": '{"detail": "Internal error"}',
        "deep nesting": "[" * 100_000,
        "a stream that ends early": 'data: {"choices": [{"delta": {"content": "{"}}]}\n\n',
        "no UTF-8": "\udcff\udcfe{",
    }
    for name, text in texts.items():
        body = text.encode("utf-8", "surrogateescape")
        yield ModelFault(
            f"200 with {name}", "passing", once(HttpReply(200, body, {"Content-Type": "application/json"}))
        )
    yield ModelFault("200 with 20 MB", "passing", once(HttpReply(200, b"[" + b"1," * 10_000_000)))


def _refuses(field: str, message: str, status: int = 400, **more: Any) -> Faulty:
    return lambda request: reply(error(message, **more), status) if field in request.body else None


def _refuses_role(request: RoleRequest) -> HttpReply | None:
    roles = [m.get("role") for m in request.body.get("messages", ())]
    return reply(error("System role not supported"), 400) if "system" in roles else None


def _alternates(request: RoleRequest) -> HttpReply | None:
    roles = [m.get("role") for m in request.body.get("messages", ())]
    wrong = "system" in roles or any(a == b for a, b in pairwise(roles))
    return reply(error("Conversation roles must alternate user/assistant/user/assistant/..."), 400) if wrong else None


def _format(kind: str, message: str) -> Faulty:
    def act(request: RoleRequest) -> HttpReply | None:
        format_type = (request.body.get("response_format") or {}).get("type", "")
        return reply(error(message), 400) if format_type.startswith(kind) else None

    return act


def _not_strict(request: RoleRequest) -> HttpReply | None:
    schema = (request.body.get("response_format") or {}).get("json_schema", {})
    return reply({"detail": [{"type": "extra_forbidden", "loc": ["strict"]}]}, 422) if "strict" in schema else None


def _responses_only(message: str, status: int) -> Faulty:
    return lambda request: None if request.path.endswith("/responses") else reply(error(message), status)


def quirks() -> Iterator[ModelFault]:
    """Yield servers that differ and stay so."""
    unsupported = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    rows: Mapping[str, Faulty] = {
        "another name of the token limit": _refuses("max_tokens", unsupported, param="max_tokens"),
        "an unknown token limit": _refuses("max_tokens", "max_tokens: extra fields not permitted", 422),
        "no role system": _refuses_role,
        "roles that alternate": _alternates,
        "no response format": _refuses("response_format", "response_format is not known here"),
        "no schema": _format("json_schema", "'response_format.type' must be 'json_object' or 'text'"),
        "no strict": _not_strict,
        "no grammar": _format("json", "Failed to parse grammar"),
        "no tools": _refuses("tools", "tools are not supported by this model"),
        "no tools, Ollama": _refuses("tools", "registry.ollama.ai/library/m does not support tools"),
        "no choice of tools, vLLM": _refuses(
            "tools", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
        ),
        "Responses alone": _responses_only(
            "This model is only supported in v1/responses and not in v1/chat/completions.", 404
        ),
        "Responses alone, 400": _responses_only("Use the Responses API (/v1/responses) for this model", 400),
        "Responses alone, without a word": _responses_only("Not Found", 404),
    }
    for name, act in rows.items():
        yield ModelFault(name, "quirk", act)


WINDOWS: Mapping[str, str] = {
    "vLLM": "'max_tokens' or 'max_completion_tokens' is too large: {asked}. This model's maximum context length is "
    "{window} tokens and your request has {prompt} input tokens ({asked} > {window} - {prompt}).",
    "vLLM, older": "This model's maximum context length is {window} tokens. However, you requested {sum} tokens "
    "({prompt} in the messages, {asked} in the completion). Please reduce the length of the messages or completion.",
    "llama.cpp": "request ({prompt} tokens) exceeds the available context size ({window} tokens), try increasing it",
    "SGLang": "Requested token count exceeds the model's maximum context length of {window} tokens. You requested a "
    "total of {sum} tokens: {prompt} tokens from the input messages and {asked} tokens for the completion.",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= {window}. Given: {prompt} `inputs` "
    "tokens and {asked} `max_new_tokens`",
    "LiteLLM": "litellm.ContextWindowExceededError: OpenAIException - This model's maximum context length is {window} "
    "tokens. However, your messages resulted in {prompt} tokens.",
    "Anthropic": "input length and `max_tokens` exceed context limit: {prompt} + {asked} > {window}, decrease input",
    "Ollama": "the prompt of {prompt} tokens and {asked} more are too long for num_ctx {window}",
    "another language": "Das Kontextfenster (context window) fasst {window} Token: {prompt} + {asked} sind mehr",
}
CAPS: Mapping[str, str] = {
    "OpenAI": "max_tokens is too large: {asked}. This model supports at most {cap} completion tokens.",
    "DeepSeek": "Invalid max_tokens value, the valid range of max_tokens is [1, {cap}]",
}


def windowed(wording: str, window: int) -> Faulty:
    """Return a server with this window, four bytes a token."""

    def act(request: RoleRequest) -> HttpReply | None:
        limit = (
            request.body.get("max_tokens")
            or request.body.get("max_completion_tokens")
            or request.body["max_output_tokens"]
        )
        prompt = len(json.dumps(request.body.get("messages") or request.body["input"])) // 4
        if prompt + limit <= window:
            return None
        values = {"asked": limit, "window": window, "prompt": prompt, "sum": prompt + limit}
        return reply(error(wording.format(**values)), 400)

    return act


def capped(wording: str, cap: int) -> Faulty:
    """Return a server whose answers have so many tokens at most."""

    def act(request: RoleRequest) -> HttpReply | None:
        limit = (
            request.body.get("max_tokens")
            or request.body.get("max_completion_tokens")
            or request.body["max_output_tokens"]
        )
        return reply(error(wording.format(asked=limit, cap=cap)), 400) if limit > cap else None

    return act


def windows() -> Iterator[ModelFault]:
    """Yield windows that are smaller than what is asked for."""
    for name, wording in WINDOWS.items():
        yield ModelFault(f"a window of 16,384, {name}", "quirk", windowed(wording, 16_384))
    yield ModelFault("a window of 6,144, vLLM", "quirk", windowed(WINDOWS["vLLM"], 6_144))
    for name, wording in CAPS.items():
        yield ModelFault(f"answers of 8,192, {name}", "quirk", capped(wording, 8_192))


def lasting() -> Iterator[ModelFault]:
    """Yield faults that do not pass."""
    for status in (400, 401, 402, 403, 404, 410, 413, 422, 429, 500, 501, 503):
        yield ModelFault(f"always HTTP {status}", "lasting", always(reply(error("no"), status)))
    texts = {"insufficient_quota": 429, "content_filter: flagged": 400, "your credit balance is too low": 400}
    for text, status in texts.items():
        yield ModelFault(f"always {text}", "lasting", always(reply(error(text), status)))
    same = WINDOWS["vLLM"].format(asked=32000, window=32768, prompt=9000)
    yield ModelFault("always the same window", "lasting", always(reply(error(same), 400)))
    yield ModelFault("always a window without numbers", "lasting", always(reply(error("context length exceeded"), 400)))
    for part in ("temperature", "response_format", "system role", "max_tokens unsupported", "tools", "v1/responses"):
        yield ModelFault(f"always refuses {part}", "lasting", always(reply(error(f"{part} is not supported"), 400)))
    yield ModelFault("always a page", "lasting", always(HttpReply(200, b"<html>login</html>")))
    yield ModelFault("always no choices", "lasting", always(reply({"choices": []})))
    yield ModelFault("always a reset", "lasting", always(HttpReply(resets=True)))
    yield ModelFault("always a wait of a day", "lasting", always(reply(error("busy"), 429, Retry_After="86400")))
    yield ModelFault("always moved", "lasting", always(HttpReply(301, b"", {"Location": "/nowhere"})))
