"""The wait that a server asks for, in every form in which servers say it: headers, limits, words in the body.

RFC 9110 has seconds or a date in Retry-After; OpenAI adds `retry-after-ms`, `x-ratelimit-reset-requests: 6m0s` and "try
again in 1.2s" in the text; Anthropic dates by ISO 8601; the IETF draft `RateLimit-Reset` in seconds; Google a
`retryDelay`. A date is read against the server's own Date, so that a wrong clock on either side does no harm.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_S = 366 * 86400.0
EPOCH_S = 1_000_000_000  # a number above is a moment, below a duration
_UNIT = r"(?:ms|milliseconds?|us|d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])"
_DURATION = re.compile(rf"(\d+(?:\.\d+)?)\s*({_UNIT})", re.I)
_WHOLE = re.compile(rf"(?:{_DURATION.pattern}\s*)+", re.I)
_SAID = re.compile(
    r"(?:try again|retry|available|wait|resets?)[\w-]*\s*(?:again\s*)?(?:in|after|at least|for)?[:\s]*"
    rf"((?:\d+(?:\.\d+)?\s*{_UNIT}\s*)+)",
    re.I,
)
_FIELD = re.compile(
    r"""["'](?:retry_?after(?:_?(?:seconds|s))?|retry_?delay)["']\s*:\s*["']?(\d+(?:\.\d+)?)\s*(s?)""", re.I
)
_UNITS = {"ms": 1e-3, "mi": 60.0, "us": 1e-6, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_RESETS = (
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-reset",
    "x-ratelimit-reset",
    "ratelimit-reset",
    "x-rate-limit-reset",
)  # fmt: skip


def asked_wait_s(headers: Mapping[str, str], text: str = "") -> float | None:
    """Seconds to wait; None where nothing is said. Nonsense counts as nothing said, a past moment as no wait."""
    now = server_clock(headers)
    if (ms := _number(headers.get("retry-after-ms", ""))) is not None:
        return _bounded(ms * 1e-3)
    if (wait := moment_s(headers.get("retry-after", ""), now)) is not None:
        return wait
    if match := _SAID.search(text):
        return _bounded(duration_s(match[1]))
    if match := _FIELD.search(text):
        return _bounded(float(match[1]))
    return reset_s(headers, now)


def reset_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds until the limits that are used up are new; the longest of those whose rest is nothing, else of all."""
    current = now or server_clock(headers)
    waits = {name: wait for name in _RESETS if (wait := moment_s(headers.get(name, ""), current)) is not None}
    used_up = [wait for name, wait in waits.items() if _number(headers.get(_rest_of(name), "")) == 0]
    return max(used_up or list(waits.values()), default=None)


def _rest_of(name: str) -> str:
    """Return the header with what is left, beside the one with the moment when it is new."""
    return name.replace("-reset", "-remaining") if not name.endswith("-reset") else f"{name[:-6]}-remaining"


def moment_s(value: str, now: datetime) -> float | None:
    """Seconds until a moment or of a duration, whichever the text is: `17`, `1m30s`, a date, seconds of the epoch."""
    value = value.strip().strip('"')
    if not value:
        return None
    if (number := _number(value)) is not None:
        if number >= EPOCH_S:
            seconds = number / 1e3 if number >= EPOCH_S * 100 else number
            return _bounded(seconds - now.timestamp())
        return _bounded(number)
    if _WHOLE.fullmatch(value):
        return _bounded(duration_s(value))
    for read in (parsedate_to_datetime, _iso):
        try:
            moment = read(value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return _bounded((moment - now).total_seconds())
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None


def duration_s(text: str) -> float:
    """Seconds of `6m0s`, `20ms`, `1 hour 2 minutes`."""
    return sum(
        float(n) * _UNITS.get(unit.lower()[:2], _UNITS.get(unit.lower()[:1], 1.0))
        for n, unit in _DURATION.findall(text)
    )


def _iso(value: str) -> datetime:
    return datetime.fromisoformat(value)


def server_clock(headers: Mapping[str, str]) -> datetime:
    """Read the clock of the server, else ours."""
    try:
        date = parsedate_to_datetime(headers.get("date", ""))
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return datetime.now(UTC)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bounded(seconds: float) -> float:
    return min(LONGEST_S, max(0.0, seconds)) if math.isfinite(seconds) else 0.0
