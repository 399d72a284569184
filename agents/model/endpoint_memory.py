"""Forms that endpoints take, kept between runs.

A file beside the caches; it may be deleted at any time. It holds the address without user, password and query, and it
is forgotten after a while, for servers are upgraded. Windows are not kept: a server may be started with another.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from agents.model.forms import LAST, Forms

KEPT_S = 7 * 86400.0
MOST = 200  # endpoints
_LOCK = threading.Lock()


class EndpointMemory:
    """Forms by address and model; without a file, for one session only."""

    def __init__(self, path: Path | None = None) -> None:
        """Nothing is read yet."""
        self._path = path

    def forms(self, address: str, model: str) -> Forms | None:
        """Read the forms that worked last; None where nothing is known, or what is known is too old."""
        row = self._rows().get(f"{address} {model}")
        if not isinstance(row, dict) or not _is_fresh(row.get("at")):
            return None
        stored = row.get("forms")
        if not isinstance(stored, dict):
            return None
        choices = {f.name: stored.get(f.name, 0) for f in fields(Forms)}
        fits = all(type(n) is int and 0 <= n <= LAST[name] for name, n in choices.items())  # type: ignore[index]
        return Forms(**choices) if fits else None

    def remember(self, address: str, model: str, forms: Forms) -> None:
        """Keep the forms that worked; a file that cannot be written is no fault."""
        if self._path is None:
            return
        with _LOCK:
            rows = self._rows()
            rows[f"{address} {model}"] = {"forms": asdict(forms), "at": time.time()}
            newest = sorted(rows.items(), key=lambda item: _time_of(item[1]))[-MOST:]
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=self._path.name)
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(dict(newest), file)
                Path(name).replace(self._path)
            except OSError:
                return

    def _rows(self) -> dict[str, Any]:
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8")) if self._path is not None else {}
        except (OSError, ValueError, RecursionError):
            return {}
        return rows if isinstance(rows, dict) else {}


def _time_of(row: Any) -> float:
    noted_at = row.get("at") if isinstance(row, dict) else None
    return float(noted_at) if isinstance(noted_at, int | float) else 0.0


def _is_fresh(noted_at: Any) -> bool:
    return isinstance(noted_at, int | float) and -KEPT_S < time.time() - noted_at < KEPT_S
