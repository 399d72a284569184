"""Tokens as a server counts them. A count that is none, or below nothing, counts as not told and is estimated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST = 1_000_000_000  # tokens, and dollars, of one answer


@dataclass(frozen=True)
class Counts:
    """The counts of an answer; None where none can be used. `cached` and `reasoning` are parts of the first two."""

    prompt: int | None = None
    completion: int | None = None
    cached: int = 0
    reasoning: int = 0
    usd: float | None = None  # a cost that the server states


def counts_of(usage: Mapping[str, Any]) -> Counts:
    """Read the usage of an answer under its usual names."""
    prompt = _first(usage, "prompt_tokens", "input_tokens", "prompt_eval_count")
    completion = _first(usage, "completion_tokens", "output_tokens", "eval_count")
    asked, said = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cached = _first(asked if isinstance(asked, Mapping) else {}, "cached_tokens")
    reasoning = _first(said if isinstance(said, Mapping) else {}, "reasoning_tokens")
    cost = _number(usage.get("cost"))
    return Counts(prompt, completion, min(cached or 0, prompt or 0), min(reasoning or 0, completion or 0), cost)


def _first(told: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        number = _number(told.get(name))
        if number is not None:
            return int(number)
    return None


def _number(value: Any) -> float | None:
    """A count or a cost: finite, not below nothing, not a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and 0 <= number <= MOST else None
