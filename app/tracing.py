"""LangSmith: off by default. Keys are removed before anything is sent; the program waits only briefly at its end."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import platform
import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from app.candidate_feedback import CandidateFeedback
from app.screen import note
from app.settings import Settings
from app.trace_view import view_of
from records.address import shown_address
from records.errors import SettingsError

ANSWER_S, FLUSH_S = 0.9, 1.0  # waits at the end of a program: for a first answer, for what was not sent yet
FEEDBACK_S = 5.0  # for the rest of the answers of an endpoint that is there
ALIVE_S = 20.0  # for the rest of what is sent to it
CONNECT_MS, SEND_MS = 1000, 10_000
_SWITCHES = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")
_OPEN_TELEMETRY = ("LANGSMITH_OTEL_ENABLED", "LANGSMITH_OTEL_ONLY", "OTEL_ENABLED", "OTEL_ONLY")


class Traces:
    """The client of a traced block, and the traces of the runs in it: their feedback and where they can be seen."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is sent yet."""
        from urllib3.util import Retry

        from app.trace_client import TraceClient

        self.view = view_of(settings)
        self.project = settings.langsmith_project
        self._where = shown_address(settings.langsmith_endpoint or "") or "LangSmith"
        self._faults: list[str] = []
        self._scores: dict[UUID, Mapping[str, float]] = {}
        logging.getLogger("langsmith").setLevel(logging.CRITICAL)  # its messages show part of the key
        key = settings.langsmith_api_key
        self.client = TraceClient(
            api_url=settings.langsmith_endpoint,
            api_key=key.get_secret_value() if key is not None else None,
            anonymizer=self.view,
            retry_config=Retry(total=1, backoff_factor=0.2),
            timeout_ms=(CONNECT_MS, SEND_MS),
            tracing_error_callback=lambda error: self._faults.append(type(error).__name__),
        )
        self._feedback = CandidateFeedback(self.client, self.project, self._faults.append)

    def score(self, trace_id: UUID, scores: Mapping[str, float]) -> None:
        """Keep the feedback for a trace; it is sent at the end."""
        self._scores[trace_id] = scores

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event of a run, in the step of the trace where it happens: what became of a candidate is feedback."""
        from graph.labels import step_of

        step = step_of(str(event["attempt"])) if event.get("event") == "attempt" else None
        if step is not None:
            self._feedback.put(step.id, step.trace_id, event)

    def score_now(self, trace_id: UUID, scores: Mapping[str, float], tell: Callable[[str], None]) -> None:
        """Send the feedback for a trace and say where it is, in a thread that nobody waits for."""

        def send() -> None:
            links: list[str] = []
            self._finish({trace_id: scores}, links, threading.Event())
            for line in links:
                tell(f"trace: {line}")

        threading.Thread(target=send, daemon=True).start()

    def close(self, tell: Callable[[str], None]) -> None:
        """Send what is left, say where the traces are and what did not arrive; a dead endpoint costs two seconds."""
        links: list[str] = []
        is_alive = threading.Event()
        last = threading.Thread(target=self._finish, args=(self._scores, links, is_alive), daemon=True)
        if self._scores:
            last.start()
            last.join(ANSWER_S)
            if is_alive.is_set():
                last.join(FEEDBACK_S)
        self._feedback.close(FEEDBACK_S if is_alive.is_set() else 0.0)
        self.client.close(timeout=ALIVE_S if is_alive.is_set() else FLUSH_S)
        for link in links:
            tell(f"trace: {link}")
        queue = self.client.tracing_queue
        why = self._faults[-1] if self._faults else "no answer in time" if queue and queue.unfinished_tasks else ""
        if why:
            tell(f"some traces did not reach {self._where} ({why}); the run is not affected")

    def _finish(self, scored: Mapping[UUID, Mapping[str, float]], links: list[str], is_alive: threading.Event) -> None:
        """Send the feedback and find the address of each trace."""
        from langsmith.utils import LangSmithError
        from requests import RequestException

        try:
            project = self.client.read_project(project_name=self.project)
            is_alive.set()
            links += [f"{project.url}/r/{trace_id}?poll=true" for trace_id in scored]
            for trace_id, scores in scored.items():
                for name, value in scores.items():
                    self.client.create_feedback(
                        trace_id, name, score=value, session_id=project.id, stop_after_attempt=1
                    )
        except (LangSmithError, RequestException, ValueError) as error:
            self._faults.append(type(error).__name__)


@contextlib.contextmanager
def tracing(settings: Settings, is_asked: bool) -> Iterator[Traces | None]:
    """Trace the block, or make sure that nothing is sent; enter it before langchain is imported."""
    if not (is_asked or settings.tracing):
        for name in _SWITCHES:
            os.environ[name] = "false"
        yield None
        return
    _check_open_telemetry()
    _export(settings)
    know_processor()
    from langsmith.run_trees import configure

    traces = Traces(settings)
    configure(client=traces.client, enabled=True, project_name=settings.langsmith_project)
    token = _CURRENT.set(traces)
    try:
        yield traces
    finally:
        _CURRENT.reset(token)
        traces.close(note)
        configure(client=None, enabled=False, project_name=None)


@contextlib.contextmanager
def tracing_here(settings: Settings) -> Iterator[Traces | None]:
    """As `tracing`, for a program of others: only the block is traced or not, their own traces stay as they are."""
    from langsmith.run_helpers import tracing_context

    if not settings.tracing:
        with tracing_context(enabled=False):
            yield None
        return
    _check_open_telemetry()
    know_processor()
    traces = Traces(settings)
    token = _CURRENT.set(traces)
    try:
        with tracing_context(enabled=True, client=traces.client, project_name=settings.langsmith_project):
            yield traces
    finally:
        _CURRENT.reset(token)
        traces.close(note)


def current_traces() -> Traces | None:
    """Those of the block that this thread is in."""
    return _CURRENT.get()


def know_processor() -> None:
    """Answer what langsmith asks of `platform`, which would start a program with this environment and its keys."""
    vars(platform.uname())["processor"] = platform.machine()


def _export(settings: Settings) -> None:
    """Pass the settings on: values from `.env` are not in the environment, where langsmith looks for them."""
    values = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_PROJECT": settings.langsmith_project,
        "LANGSMITH_ENDPOINT": settings.langsmith_endpoint,
        "LANGSMITH_API_KEY": settings.langsmith_api_key.get_secret_value() if settings.langsmith_api_key else None,
    }
    for name, value in values.items():
        if value:
            os.environ[name] = value


def _check_open_telemetry() -> None:
    """Refuse OpenTelemetry without its packages: langsmith would post to its own service instead."""
    switches = [name for name in _OPEN_TELEMETRY if os.environ.get(name, "").lower() in ("1", "true")]
    if not switches:
        return
    try:
        exporter = importlib.util.find_spec("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ModuleNotFoundError:
        exporter = None
    if exporter is None:
        raise SettingsError(
            f"{switches[0]} is set, but the OpenTelemetry packages are not installed; "
            "unset it, or install langsmith with its otel extra"
        )


_CURRENT: ContextVar[Traces | None] = ContextVar("traces", default=None)
