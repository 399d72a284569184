"""The way of spans to a collector of OpenTelemetry, by OTLP over HTTP; nothing is sent that is not asked for."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from app.screen import note
from records.address import shown_address
from records.errors import SettingsError
from records.program_version import program_version

if TYPE_CHECKING:
    from app.open_telemetry import Spans
    from app.settings import Settings

NAME = "kernel-scientist"
END_S = 2.0  # at the end, for what was not sent yet
EXPORT_S = 10.0


class Exporter:
    """Sends batches of spans, and remembers whether one did not arrive."""

    def __init__(self, inner: Any, failed: Callable[[], None] = lambda: None) -> None:
        """`inner` is the SDK's own; `failed` is called the first time."""
        self._inner, self._failed = inner, failed
        self.has_failed = False

    def export(self, spans: Any) -> Any:
        """Send a batch."""
        result = self._inner.export(spans)
        if result.name != "SUCCESS" and not self.has_failed:
            self.has_failed = True
            self._failed()
        return result

    def shutdown(self) -> None:
        """Send no more."""
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing is kept here."""
        return True


class SpanExport:
    """The way to the collector, for the spans of one run or of all that a server has."""

    def __init__(self, settings: Settings, is_told_at_once: bool = False) -> None:
        """Nothing is sent yet; `is_told_at_once`: that spans do not arrive is said then, and not only at the end."""
        refuse_missing(settings)
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # we say what did not arrive
        self._settings, self._is_told = settings, False
        address = f"{settings.otlp_endpoint.rstrip('/')}/v1/traces" if settings.otlp_endpoint else None
        inner = OTLPSpanExporter(endpoint=address, headers=dict(settings.header_values()) or None, timeout=EXPORT_S)
        self._exporter = Exporter(inner, *([self._tell] if is_told_at_once else []))
        service = Resource.create({"service.name": NAME, "service.version": program_version()})
        self._provider = TracerProvider(resource=service, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))  # type: ignore[arg-type, unused-ignore]

    def spans(self, run_id: str) -> Spans:
        """Make the spans of a run, to be told of its events."""
        from app.open_telemetry import Spans

        return Spans(self._settings, run_id, self._provider.get_tracer(NAME, program_version()))

    def close(self) -> None:
        """Send what is left; a collector that is not there costs two seconds."""
        last = threading.Thread(target=self._provider.shutdown, daemon=True)
        last.start()
        last.join(END_S)
        if last.is_alive() or self._exporter.has_failed:
            self._tell()

    def _tell(self) -> None:
        if not self._is_told:
            self._is_told = True
            collector = shown_address(self._settings.otlp_endpoint or "") or "the collector"
            note(f"some spans did not reach {collector}; the run is not affected")


@contextlib.contextmanager
def telemetry(settings: Settings, run_id: str) -> Iterator[Spans | None]:
    """Make spans of a run in the block, where the settings ask for them."""
    if not settings.telemetry:
        yield None
        return
    export = SpanExport(settings)
    spans = export.spans(run_id)
    try:
        with spans.taking_calls():
            yield spans
    finally:
        export.close()


def refuse_missing(settings: Settings) -> None:
    """SettingsError where spans are asked for and cannot be sent."""
    if settings.telemetry and not has_packages():
        raise SettingsError(
            "KERNEL_SCIENTIST_TELEMETRY is set, but the OpenTelemetry packages are not installed; "
            "unset it, or install the extra: .venv/bin/pip install -e '.[otel]'"
        )


def has_packages() -> bool:
    """Tell whether spans can be sent."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http.trace_exporter") is not None
    except (ModuleNotFoundError, ValueError):
        return False
