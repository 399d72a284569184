"""One request over HTTP and the answer out of it. What a fault of it means is the provider's matter."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agents.model.chat_wire import ChatCompletions, ToolsInText, assembled
from agents.model.conversation import RawReply, ToolCall, transcribed
from agents.model.endpoint import Endpoint
from agents.model.exchange import Exchange, HttpAnswer
from agents.model.faults import Fault, error_words, error_words_in, hidden, of_status, would_pass
from agents.model.forms import named_part
from agents.model.prompt_fit import size_of
from agents.model.responses_wire import Responses
from agents.model.server_waits import asked_wait_s
from agents.model.structured_output import clean, thought_and_said
from agents.model.usage import CountedUsage, RequestSizes, usage_of
from agents.model.window import size_in
from agents.model.wire import ModelRequest, NotAnAnswer, Wire, WireReply, mapping
from records.stopping import StopSignal

if TYPE_CHECKING:
    from agents.model.chat_client import ToolChat

SIZED = frozenset({400, 413, 422, 429, 500})  # with these a request that is too large is refused


class Transport:
    """Sends one request at a time a thread, and never twice."""

    def __init__(
        self,
        endpoint: Endpoint,
        learn: Callable[[Mapping[str, str]], None] = lambda _: None,
        stop: StopSignal | None = None,
    ) -> None:
        """Nothing is imported and nothing is sent yet. `learn` gets the headers of every response."""
        self.endpoint = endpoint
        self.exchange = Exchange(endpoint, stop)
        self._learn = learn
        self._lock = threading.Lock()
        self._clients: dict[str, ToolChat] = {}

    def send(self, request: ModelRequest, config: Mapping[str, Any]) -> RawReply:
        """Get the answer to one request; Fault where there is none."""
        from agents.model.chat_client import sent
        from agents.model.chat_wire import turn

        turns = [turn(m) for m in request.talk]
        options = {request.forms.token_name: request.max_tokens}
        return sent(self._client(request.model), turns, config, options, lambda: self._once(request))

    def wire(self, request: ModelRequest) -> Wire:
        """Choose the format in which a request is sent."""
        if request.forms.wire:
            return Responses()
        has_calls = any(m.role == "tool" or len(m.calls) > 0 for m in request.talk)
        return ToolsInText() if has_calls and not request.tools else ChatCompletions()

    def _once(self, request: ModelRequest) -> RawReply:
        wire = self.wire(request)
        body = json.dumps(wire.body(request)).encode()
        try:
            answer = self.exchange.post(wire.path, body, min(self.endpoint.timeout_s, request.within_s))
            self._learn(answer.headers)
            if answer.status >= 300:
                raise _refusal(request, answer.status, answer.headers, answer.body)
            return self._raw(request, _read(wire, request, answer))
        except Fault as fault:
            raise hidden(fault, self.endpoint.hide) from None

    def _client(self, model: str) -> ToolChat:
        with self._lock:
            if model not in self._clients:
                from agents.model.chat_client import client

                self._clients[model] = client(model, self.endpoint.address)
            return self._clients[model]

    def _raw(self, request: ModelRequest, answer: WireReply) -> RawReply:
        """Make the answer as it is kept: cleaned, without the key, counted and priced."""
        hide = self.endpoint.hide
        calls = [ToolCall(clean(c.id)[:200], hide(clean(c.name)), hide(clean(c.arguments))) for c in answer.calls]
        text, thinking = answer.text, answer.thinking
        if not text.strip() and calls and not request.tools:  # asked for text, answered with a call: that is the answer
            text = calls[0].arguments
        if not text.strip():
            text = answer.refusal
        if not calls or not request.tools:
            thinking, text = thought_and_said(text, thinking)
        counted = self._counted(request, answer, f"{text}{thinking}")
        return RawReply(
            hide(clean(text)),
            clean(answer.finish_reason)[:80],
            request.model,
            counted.usage,
            counted.is_counted,
            tuple(calls) if request.tools else (),
            hide(clean(thinking)),
            request.max_tokens,
        )

    def _counted(self, request: ModelRequest, answer: WireReply, text: str) -> CountedUsage:
        """Tokens and dollars, as the server counts where that is believable, else as we do."""
        said_bytes = len((text + "".join(c.arguments for c in answer.calls)).encode("utf-8", "replace"))
        tools = len(json.dumps(request.tools)) if request.tools else 0
        sizes = RequestSizes(len(transcribed(request.talk).encode()) + tools, said_bytes)
        return usage_of(answer.usage, sizes, self.endpoint.price_of(request.model), answer.tier)


def _read(wire: Wire, request: ModelRequest, answer: HttpAnswer) -> WireReply:
    """Read the answer in a body with a status of success; Fault where it is none."""
    text = answer.body.decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
    try:
        if text.startswith(("data:", "event:", ":")):
            document: Any = assembled(text)
            if document is None:
                raise Fault("odd", "an answer whose stream ended before its end", answer.status, is_sent=True)
        else:
            document = json.loads(text)
        failed = _failed(document)
        if failed is not None:
            raise _in_body(request, answer, failed)
        return wire.read(document)
    except NotAnAnswer as error:
        raise Fault("odd", str(error), answer.status, is_sent=True) from None
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        raise Fault("odd", "an answer that is no JSON of this interface", answer.status, is_sent=True) from None


def _failed(document: Any) -> Any:
    """Find the error that a document with a status of success holds, as some routers answer; None for none."""
    answer = mapping(document)
    error = answer.get("error")
    if error:  # also beside half of an answer
        return answer
    return answer if answer.get("object") == "error" or answer.get("status") == "failed" else None


def _in_body(request: ModelRequest, answer: HttpAnswer, document: Any) -> Fault:
    inner = mapping(mapping(document).get("error")) or mapping(document)
    code = inner.get("code")
    status = code if isinstance(code, int) and 400 <= code <= 599 else 0
    fault = _refusal(request, status or 500, answer.headers, json.dumps(document).encode())
    if not status and fault.kind == "passing" and not would_pass(error_words(document).text):
        fault = Fault("odd", error_words(document).text[:200], answer.status)
    return fault  # with an error of its own, so that nothing is billed


def _refusal(request: ModelRequest, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """Find the fault of an HTTP error, by its status and by what its words say of the request's size and parts."""
    error = error_words_in(body)
    prompt = size_of(request.talk) / 3.5
    about_size = status in SIZED and size_in(error.text, request.max_tokens, prompt, status not in (429, 500))
    part = named_part(error.text, error.param, request.parts(), request.forms)
    if body.lstrip()[:1] == b"<":  # a page for people
        error = replace(error, text="a page instead of an answer", param="", code="")
        about_size, part = None, None
    return of_status(status, error, asked_wait_s(headers, error.text), bool(about_size), part is not None)
