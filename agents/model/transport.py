"""One chat request over HTTP: the only place that retries, and the only one that knows the client library."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import tenacity

from agents.model.conversation import Message, RawReply, ToolCall, transcribed
from agents.model.endpoint import Endpoint
from agents.model.fare import Fare
from agents.model.structured_output import clean
from agents.model.usage import RequestSizes, usage_of
from records.errors import ModelRefused, ModelUnreachable
from records.quantity import counted

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
NOT_A_COMPLETION = (ValueError, KeyError, TypeError, AttributeError, IndexError)


TOKEN_FIELDS = ("max_tokens", "max_completion_tokens")
TIMED_OUT_BEHIND = frozenset({504, 524})  # a proxy gave up waiting for a server that may have gone on, and bills it
NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"})  # of httpx


@dataclass(frozen=True)
class Options:
    """Differences between servers: found by their refusals, kept for the rest of the run."""

    json_mode: int = 0  # into structured_output.JSON_MODES
    token_field: str = "max_tokens"  # or max_completion_tokens
    send_temperature: bool = True


class Rejected(Exception):
    """HTTP 400 or 422: the payload is at fault, perhaps only one field that this server does not know."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text

    @property
    def names_tools(self) -> bool:
        """True where the refusal is of tools, by any of the names that servers give them."""
        return any(word in self.text.lower() for word in ("tool", "function call", "functions"))

    def adapt(self, options: Options, asked_schema: bool) -> Options | None:
        """Options without the field that the server names, or None when it is something else."""
        text = self.text.lower()
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[options.token_field]
        if options.send_temperature and "temperature" in text:
            return replace(options, send_temperature=False)
        if options.token_field in text and ("unsupported" in text or "not permitted" in text or other in text):
            return replace(options, token_field=other)
        named = ("response_format", "json_schema", "json_object", "strict", "schema", "grammar", "guided")
        if asked_schema and options.json_mode < 3 and any(word in text for word in named):
            return replace(options, json_mode=options.json_mode + 1)
        return None


class _Passing(Exception):
    """A fault that may pass: try again after `after_s`, or after the back-off when the server names no time."""

    def __init__(self, text: str, after_s: float | None = None) -> None:
        super().__init__(text)
        self.after_s = after_s


class Transport:
    """Sends one request at a time a thread. Time is used in `sleep` only, so that tests need not wait."""

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], None] = time.sleep) -> None:
        """Nothing is imported and nothing is sent yet."""
        self.endpoint = endpoint
        self._sleep = sleep
        self._lock = threading.Lock()
        self._clients: dict[str, ChatOpenAI] = {}

    def send(
        self,
        model: str,
        messages: Sequence[Message],
        options: Options,
        response_format: Mapping[str, Any] | None,
        max_tokens: int,
        config: Mapping[str, Any],
        tools: Sequence[Mapping[str, Any]] = (),
        fare: Fare | None = None,
    ) -> RawReply:
        """One answered request. ModelUnreachable after the retries, ModelRefused at once, Rejected for the payload.

        `fare` is told of each sending that may have been billed and brought no answer, and pays for the next one.
        """
        end = self.endpoint
        body: dict[str, Any] = {options.token_field: max_tokens}
        if tools:
            body |= {"tools": [dict(tool) for tool in tools], "tool_choice": "auto"}
        if response_format is not None:
            # By extra_body, because a plain response_format makes the client parse the answer itself and throw text
            # and token counts away when that fails.
            body["response_format"] = dict(response_format)
        if end.temperature is not None and options.send_temperature:
            body["temperature"] = end.temperature
        talk = [replace(m, content=clean(m.content)) for m in messages]
        tries = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(end.retries + 1),
            retry=tenacity.retry_if_exception_type(_Passing),
            wait=self._wait,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return tries(self._once, model, talk, body, config, fare)
        except _Passing as fault:
            raise ModelUnreachable(
                f"no answer from the model's endpoint {end.address} after {counted(end.retries + 1, 'try', 'tries')} "
                f"({fault}); check that it is up and reachable, then resume the run"
            ) from None

    def _once(
        self,
        model: str,
        talk: Sequence[Message],
        body: dict[str, Any],
        config: Mapping[str, Any],
        fare: Fare | None = None,
    ) -> RawReply:
        import openai

        if fare is not None:
            fare.set_aside()
            body = {n: min(v, fare.max_tokens) if n in TOKEN_FIELDS else v for n, v in body.items()}
        turns = [m.document() for m in talk]
        try:
            answer = self._client(model).invoke(turns, config=dict(config), extra_body=body)  # type: ignore[arg-type]
        except openai.APIStatusError as error:
            _lose(fare, error.status_code in TIMED_OUT_BEHIND)
            raise self._status(error) from None
        except openai.APIConnectionError as error:  # time-outs too
            _lose(fare, not never_sent(error))
            raise _Passing(cause_of(error)) from None
        except (openai.OpenAIError, *NOT_A_COMPLETION) as error:
            _lose(fare, not (error.args and isinstance(error.args[0], dict)))
            raise self._not_a_completion(error) from None
        prompt_bytes = len(transcribed(talk).encode()) + len(json.dumps(body.get("tools", "")))
        return _raw(answer, model, self.endpoint, prompt_bytes, "tools" in body)

    def _client(self, model: str) -> ChatOpenAI:
        with self._lock:
            if model not in self._clients:
                from agents.model.chat_client import NO_CLIENT, ToolChat

                end = self.endpoint
                self._clients[model] = ToolChat(
                    model=model,
                    base_url=end.base_url,
                    api_key=end.key_to_send,
                    max_retries=0,
                    timeout=end.timeout_s,
                    use_responses_api=False,  # chosen by model name otherwise, and few servers have it
                    disable_streaming=True,  # a graph that streams would switch it on, and lose the token counts
                    async_client=NO_CLIENT,  # or one is made for each model, with the certificates read again
                )
            return self._clients[model]

    def _wait(self, state: tenacity.RetryCallState) -> float:
        end = self.endpoint
        fault = state.outcome.exception() if state.outcome else None
        jittered = tenacity.wait_random_exponential(multiplier=end.backoff_s, max=end.max_wait_s)(state)
        usual = jittered + end.backoff_s / 2
        asked = fault.after_s if isinstance(fault, _Passing) else None
        return min(max(usual, asked or 0.0), max(end.max_wait_s, asked or 0.0))

    def _status(self, error: Any) -> Exception:
        """The exception for an HTTP status; `error` is an openai.APIStatusError."""
        status, text = int(error.status_code), self.endpoint.hide(str(error.body or error.message))[:400]
        if status in PASSING or status >= 500:
            if "insufficient_quota" in text:
                return self.refused(status, "the account has no credit left")
            after_s = retry_after_s(error.response.headers)
            if after_s is not None and after_s > 10 * self.endpoint.max_wait_s:
                return ModelUnreachable(
                    f"the endpoint {self.endpoint.address} asks to wait {after_s:.0f} s; resume the run then"
                )
            return _Passing(f"HTTP {status}", after_s)
        return Rejected(status, text) if status in (400, 422) else self.refused(status, text)

    def refused(self, status: int, text: str) -> ModelRefused:
        """The exception for a refusal that no retry changes."""
        advice = {
            401: "check the key",
            403: "check what the key may use",
            404: "check the base URL and the model name",
            429: "add credit or use another key",
        }
        # The server's own words about a key may quote it.
        said = f": {text}" if text and status not in (401, 403) else ""
        remedy = advice.get(status, "check the base URL, the key and the model name")
        return ModelRefused(
            f"the model's endpoint {self.endpoint.address} refused the request with HTTP {status}{said}; {remedy}"
        )

    def _not_a_completion(self, error: Exception) -> Exception:
        told = error.args[0] if error.args else None
        if isinstance(told, dict):  # some routers answer 200 with the fault of the server behind them in the body
            code = told.get("code")
            if isinstance(code, int) and (code in PASSING or code >= 500):
                return _Passing(f"error {code} in the answer")
            text = self.endpoint.hide(str(told.get("message", told)))[:400]
            return ModelRefused(
                f"the model's endpoint {self.endpoint.address} answered with an error: {text}; "
                "check the model name and the account"
            )
        return ModelRefused(
            f"the answer of {self.endpoint.address} is not a chat completion; check that the base URL "
            "is that of an OpenAI-compatible API (most end in /v1)"
        )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait, from `retry-after-ms` or `Retry-After` as seconds or as a date."""
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if not value:
            continue
        try:
            return max(0.0, float(value) * scale)
        except ValueError:
            pass
        try:
            return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError):
            pass
    return None


def cause_of(error: BaseException) -> str:
    """The reason of a failed connection in a few words."""
    cause = error.__cause__
    kind = type(cause or error).__name__
    return "timed out" if "Timeout" in kind or "Timeout" in type(error).__name__ else f"no connection, {kind}"


def never_sent(error: BaseException) -> bool:
    """True where a connection failed before anything could be sent over it."""
    return type(error.__cause__).__name__ in NEVER_SENT


def _lose(fare: Fare | None, may_be_billed: bool) -> None:
    if fare is not None and may_be_billed:
        fare.lose()


def _raw(answer: Any, model: str, endpoint: Endpoint, prompt_bytes: int, has_tools: bool) -> RawReply:
    """The parts we keep of a LangChain AIMessage."""
    hide = endpoint.hide
    calls = [
        ToolCall(i, hide(clean(name)), hide(clean(said))) for i, name, said in answer.additional_kwargs["asked_tools"]
    ]
    text = (
        answer.content
        if isinstance(answer.content, str)
        else "".join(str(part.get("text", "")) for part in answer.content if isinstance(part, dict))
    )
    if not text.strip() and calls and not has_tools:  # asked for text, answered with a call: that is the answer
        text = calls[0].arguments
    if not text.strip():
        text = str(answer.additional_kwargs.get("refusal") or "")
    said_bytes = len("".join([text, *(c.arguments for c in calls if has_tools)]).encode("utf-8", "replace"))
    told, tier = answer.additional_kwargs.get("told_usage", (None, None))
    counted = usage_of(told, RequestSizes(prompt_bytes, said_bytes), endpoint.price_of(model), tier)
    return RawReply(
        hide(clean(text)),
        str(answer.response_metadata.get("finish_reason") or ""),
        model,
        counted.usage,
        counted.is_counted,
        tuple(calls) if has_tools else (),
    )
