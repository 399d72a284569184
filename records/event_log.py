"""The event log of a run: what happens, a JSON object a line, for programs that follow it or read it later.

Each line has `at` (UTC, ISO 8601), `run` and `event`; the other fields are those of the event, in docs/using.md. Keys
are removed. The file begins again when it is full, with the full one beside it: a run keeps two at most.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from records.errors import LedgerError
from records.experiment import Run
from records.outside_text import visible
from records.redaction import redacted

Listener = Callable[[Mapping[str, Any]], None]
NAME, EARLIER = "events.jsonl", "events.1.jsonl"
MOST_BYTES = 8 << 20


class EventLog:
    """Appends events, from several threads; nothing is made before the first one."""

    def __init__(self, folder: Path, run_id: str, secrets: Sequence[str], most_bytes: int = MOST_BYTES) -> None:
        """`folder` is the run's own."""
        self._folder, self._run_id, self._secrets, self._most_bytes = folder, run_id, secrets, most_bytes
        self._turn = threading.Lock()

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Append one event; LedgerError where it cannot be written."""
        written_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        clean = {name: self._clean(value) for name, value in event.items()}
        line = json.dumps({"at": written_at, "run": self._run_id, **clean}, ensure_ascii=False) + "\n"
        with self._turn:
            self._append(line.encode("utf-8", "replace"))

    def _append(self, line: bytes) -> None:
        path = self._folder / NAME
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size + len(line) > self._most_bytes:
                path.replace(self._folder / EARLIER)
            with path.open("ab") as file:
                file.write(line)  # at once, so that a reader never sees half of it after a crash of this process
        except OSError as error:
            raise LedgerError(
                f"the event log {path} cannot be written ({error.strerror}); free some space, then resume the run"
            ) from None

    def _clean(self, value: Any) -> Any:
        return visible(redacted(value, self._secrets, str(Path.home()))) if isinstance(value, str) else value


def begun(run: Run) -> Mapping[str, Any]:
    """Make the event that a program begins to drive the run."""
    settings = {"task": run.task, "target": run.target, "on": run.on, "author": run.author, "seed": run.seed}
    return {"event": "begun", **settings}


def ended(run: Run) -> Mapping[str, Any]:
    """Make the event that it no longer drives the run, with how it left it."""
    return {"event": "left", "status": run.status, "pause": run.pause, "reason": run.stop_reason}


def all_of(*listeners: Listener | None) -> Listener:
    """One listener that passes each event on to these."""

    def tell(event: Mapping[str, Any]) -> None:
        for listener in listeners:
            if listener is not None:
                listener(event)

    return tell
