"""LangSmith: off by default. Keys are removed before anything is sent; the program waits only briefly at its end."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import re
from collections.abc import Iterator

from app.screen import note
from app.settings import Settings
from records.errors import SettingsError

FLUSH_S = 1.5
CONNECT_MS, SEND_MS = 1000, 10_000
_SWITCHES = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")
_OPEN_TELEMETRY = ("LANGSMITH_OTEL_ENABLED", "LANGSMITH_OTEL_ONLY", "OTEL_ENABLED", "OTEL_ONLY")


@contextlib.contextmanager
def tracing(settings: Settings, asked: bool) -> Iterator[None]:
    """Trace the block, or make sure that nothing is sent; enter it before langchain is imported."""
    if not (asked or settings.tracing):
        for name in _SWITCHES:
            os.environ[name] = "false"
        yield
        return
    _check_open_telemetry()
    _export(settings)
    from langsmith import Client
    from langsmith.anonymizer import StringNodeRule, create_secret_anonymizer
    from langsmith.run_trees import configure
    from urllib3.util import Retry

    rules = [StringNodeRule(pattern=re.compile(re.escape(s)), replace="[removed]") for s in settings.secrets()]
    faults: list[str] = []
    logging.getLogger("langsmith").setLevel(logging.CRITICAL)  # its messages show part of the key
    client = Client(
        anonymizer=create_secret_anonymizer(extra_rules=rules),
        retry_config=Retry(total=1, backoff_factor=0.2),
        timeout_ms=(CONNECT_MS, SEND_MS),  # its sender is no daemon thread: a dead endpoint would hold the exit
        tracing_error_callback=lambda error: faults.append(type(error).__name__),
    )
    configure(client=client, enabled=True, project_name=settings.langsmith_project)
    try:
        yield
    finally:
        client.close(timeout=FLUSH_S)
        configure(client=None, enabled=False, project_name=None)
        if faults:
            where = settings.langsmith_endpoint or "LangSmith"
            note(f"some traces did not reach {where} ({faults[-1]}); the run is not affected")


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
    wanted = [name for name in _OPEN_TELEMETRY if os.environ.get(name, "").lower() in ("1", "true")]
    if not wanted:
        return
    try:
        found = importlib.util.find_spec("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise SettingsError(
            f"{wanted[0]} is set, but the OpenTelemetry packages are not installed; "
            "unset it, or install langsmith with its otel extra"
        )
