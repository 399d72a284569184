"""Times that cannot be: kept with the source, because the next such kernel should be a test."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from records.evaluation import Finding

FOLDER = "incidents"


def file_incident(cache: Path, source: str, task: str, device: str, finding: Finding) -> None:
    """Write one file into the cache folder; a full disk loses no verdict, so it is no error here."""
    now = datetime.now(UTC)
    name = f"{now:%Y%m%d-%H%M%S}-{hashlib.sha256(source.encode()).hexdigest()[:12]}.json"
    text = json.dumps(
        {
            "at": now.isoformat(timespec="seconds"),
            "task": task,
            "device": device,
            "finding": asdict(finding),
            "source": source,
        },
        indent=1,
    )
    with suppress(OSError):
        (cache / FOLDER).mkdir(parents=True, exist_ok=True)
        (cache / FOLDER / name).write_text(text, encoding="utf-8")
