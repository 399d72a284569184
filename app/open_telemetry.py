"""OpenTelemetry: a run, its experiments, their verdicts and the calls to a model as spans; off unless asked.

Names are those of the conventions for generative AI where there is one, else they begin with `kernel_scientist.`. Texts
go through the rules of traces.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from app.trace_view import view_of

if TYPE_CHECKING:
    from app.settings import Settings

NAME = "kernel-scientist"
OWN = "kernel_scientist."
MOST_CHARS = 60_000  # of a prompt or a reply


class Spans(BaseCallbackHandler):
    """Makes spans of a run's events, and of calls to chat models, in whatever threads they happen."""

    run_inline = True

    def __init__(self, settings: Settings, run_id: str, tracer: Any) -> None:
        """`tracer` is OpenTelemetry's."""
        self._settings, self._view, self._run_id, self._tracer = settings, view_of(settings), run_id, tracer
        self._turn = threading.Lock()
        self._run: Any = None
        self._experiments: dict[str, Any] = {}
        self._last_ns: dict[str, int] = {}  # by experiment: its last event
        self._calls: dict[UUID, Any] = {}

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Take one event of the run."""
        with self._turn:
            kind, experiment = event.get("event"), str(event.get("experiment") or "")
            if kind == "begun":
                self._begin(event)
            elif kind == "generation":
                self._end_experiments()
            elif kind == "stage" and experiment:
                self._experiment(experiment, event)
                self._last_ns[experiment] = time.time_ns()
            elif kind == "attempt" and experiment:
                self._verdict(experiment, event)
            elif kind in ("best", "warning", "stopped") and self._run is not None:
                self._run.add_event(f"{OWN}{kind}", self._own_attributes(event))
            elif kind == "left":
                self._end(event)

    @contextlib.contextmanager
    def taking_calls(self) -> Iterator[None]:
        """Make spans of the calls to models in the block, and in the threads that it begins."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[Any]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin the span of a call."""
        from opentelemetry.trace import SpanKind, set_span_in_context

        tags = metadata or {}
        model = str(tags.get("ls_model_name") or (kwargs.get("invocation_params") or {}).get("model") or "unknown")
        server = urlsplit(self._settings.base_url or "https://api.openai.com/v1")
        prompt = [{"role": m.type, "parts": [{"type": "text", "content": str(m.content)}]} for m in messages[0]]
        with self._turn:
            parent = self._experiments.get(str(tags.get("experiment"))) or self._run
            span = self._tracer.start_span(
                f"chat {model}",
                context=set_span_in_context(parent) if parent is not None else None,
                kind=SpanKind.CLIENT,
                attributes={
                    "gen_ai.operation.name": "chat",
                    "gen_ai.provider.name": "openai",
                    "gen_ai.request.model": model,
                    "gen_ai.conversation.id": self._run_id,
                    "gen_ai.agent.name": str(tags.get("node") or "model"),
                    "gen_ai.input.messages": self._text(prompt),
                    "server.address": server.hostname or "",
                    "server.port": server.port or (80 if server.scheme == "http" else 443),
                },
            )
            self._calls[run_id] = span

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """End the span of a call with its reply and its tokens."""
        with self._turn:
            span = self._calls.pop(run_id, None)
        if span is None:
            return
        for batch in response.generations[:1]:
            message = getattr(batch[0], "message", None) if batch else None
            if message is None:
                continue
            used, about = message.usage_metadata or {}, message.response_metadata or {}
            part = {"role": "assistant", "parts": [{"type": "text", "content": str(message.content)}]}
            attributes = {
                "gen_ai.usage.input_tokens": used.get("input_tokens"),
                "gen_ai.usage.output_tokens": used.get("output_tokens"),
                "gen_ai.response.model": about.get("model_name"),
                "gen_ai.response.id": about.get("id") or message.id,
                "gen_ai.response.finish_reasons": [about["finish_reason"]] if about.get("finish_reason") else None,
                "gen_ai.output.messages": self._text([part]),
            }
            span.set_attributes({name: value for name, value in attributes.items() if value is not None})
        span.end()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """End the span of a call that failed."""
        with self._turn:
            span = self._calls.pop(run_id, None)
        if span is not None:
            _failed(span, type(error).__name__)
            span.end()

    def _begin(self, event: Mapping[str, Any]) -> None:
        about = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": NAME}
        self._run = self._tracer.start_span(
            f"invoke_workflow {NAME}",
            attributes={
                **about,
                "gen_ai.conversation.id": self._run_id,
                f"{OWN}run": self._run_id,
                **self._own_attributes(event),
            },
        )

    def _experiment(self, name: str, event: Mapping[str, Any]) -> Any:
        from opentelemetry.trace import set_span_in_context

        if name not in self._experiments:
            attributes = {f"{OWN}experiment": name, f"{OWN}generation": int(event.get("generation") or 0)}
            within = set_span_in_context(self._run) if self._run is not None else None
            self._experiments[name] = self._tracer.start_span(
                f"experiment {name}", context=within, attributes=attributes
            )
        return self._experiments[name]

    def _verdict(self, name: str, event: Mapping[str, Any]) -> None:
        from opentelemetry.trace import set_span_in_context

        parent, now = self._experiment(name, event), time.time_ns()
        span = self._tracer.start_span(
            f"verdict {event.get('attempt')}",
            context=set_span_in_context(parent),
            start_time=min(self._last_ns.get(name, now), now),
            attributes=self._own_attributes(event),
        )
        score: dict[str, Any] = {
            "gen_ai.evaluation.name": "verdict",
            "gen_ai.evaluation.score.label": str(event.get("status")),
        }
        if event.get("geomean_us") is not None:
            score["gen_ai.evaluation.score.value"] = event["geomean_us"]
        span.add_event("gen_ai.evaluation.result", score)
        span.end(now)
        self._last_ns[name] = now

    def _end(self, event: Mapping[str, Any]) -> None:
        self._end_experiments()
        if self._run is not None:
            self._run.set_attributes(self._own_attributes(event))
            if event.get("status") == "failed" or event.get("pause") == "machine":
                _failed(self._run, str(event.get("pause") or "failed"))
            self._run.end()
            self._run = None

    def _end_experiments(self) -> None:
        for name, span in self._experiments.items():
            span.end(self._last_ns.get(name))
        self._experiments, self._last_ns = {}, {}

    def _own_attributes(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Give the fields of an event as attributes; those without a value are left out."""
        fields = self._view({name: value for name, value in event.items() if name != "event"})
        return {f"{OWN}{name}": value for name, value in fields.items() if isinstance(value, str | int | float)}

    def _text(self, messages: list[dict[str, Any]]) -> str:
        return json.dumps(self._view({"messages": messages})["messages"], ensure_ascii=False)[:MOST_CHARS]


_CURRENT: ContextVar[BaseCallbackHandler | None] = ContextVar("spans", default=None)
register_configure_hook(_CURRENT, inheritable=True)


def _failed(span: Any, why: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", why)
    span.set_status(Status(StatusCode.ERROR, why))
