"""Records as JSON for a browser: secrets and home paths removed, characters that hide or reorder text made visible."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from app.page.sheets import Extras
from records.codec import to_plain
from records.outside_text import visible
from records.redaction import redacted


def as_json(record: Any, extras: Extras) -> str:
    """Write the record as JSON text without `<`, so that it may also stand in a page."""
    return json_of(to_plain(record), extras)


def json_of(value: Any, extras: Extras) -> str:
    """Write plain values as such JSON text."""
    text = json.dumps(cleaned(value, extras), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def cleaned(value: Any, extras: Extras) -> Any:
    """Plain values with every text blotted and made visible; numbers that JSON has no words for become null."""
    return _cleaned(value, lambda text: visible(redacted(text, extras.secrets, extras.home)))


def _cleaned(value: Any, blot: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return blot(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {blot(key): _cleaned(inner, blot) for key, inner in value.items()}
    if isinstance(value, list):
        return [_cleaned(inner, blot) for inner in value]
    return value
