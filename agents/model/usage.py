"""The cost of a request, from the server's own count where that is believable and from ours where it is not.

A count is believed where it is a whole number from 0 on that the text can have: not one token for more than 64 bytes.
Ours is the most that the text can be, as for a reservation: what was sent stays spent until a count disproves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from agents.model.price import BYTES_PER_TOKEN_AT_WORST, Price
from records.experiment import Usage

MOST = 1e12  # tokens, and dollars, of one answer: no count beyond is one, nor is one that is infinite
BYTES_PER_TOKEN_AT_BEST = 64  # the longest tokens of common vocabularies are runs of about so many blanks


@dataclass(frozen=True)
class RequestSizes:
    """Our own view of a request: bytes of what was sent and of what came."""

    prompt_bytes: int
    answer_bytes: int


@dataclass(frozen=True)
class CountedUsage:
    """Tokens and money, and whether the server counted the answer."""

    usage: Usage
    is_counted: bool


def usage_of(document: Any, sizes: RequestSizes, price: Price, tier: Any = "") -> CountedUsage:
    """Read the usage as a server says it, in the words of chat completions or Responses, whatever else it may be."""
    usage = document if isinstance(document, Mapping) else {}
    prompt = _believed(_first(usage, "prompt_tokens", "input_tokens"), sizes.prompt_bytes)
    answer = _believed(_first(usage, "completion_tokens", "output_tokens"), sizes.answer_bytes)
    total = _whole_number(usage.get("total_tokens"))
    if prompt is not None and answer is not None and total is not None:
        answer = max(answer, total - prompt)  # some servers leave reasoning out of the completion, and bill it
    prompt_tokens = _at_worst(sizes.prompt_bytes) if prompt is None else prompt
    completion_tokens = _at_worst(sizes.answer_bytes) if answer is None else answer
    cached = 0 if prompt is None else min(prompt, _cached(usage))
    reasoning = 0 if answer is None else min(answer, _reasoning(usage))
    service = tier if isinstance(tier, str) else ""
    usd = price.cost_usd(prompt_tokens, completion_tokens, cached, reasoning, service)
    stated = usage.get("cost")
    if usd == 0.0 and _is_number(stated) and stated >= 0:  # a router that knows what no price here does
        usd = float(stated)
    return CountedUsage(Usage(prompt_tokens, completion_tokens, usd, cached, reasoning), answer is not None)


def _at_worst(size_bytes: int) -> int:
    return -(-size_bytes // BYTES_PER_TOKEN_AT_WORST)


def _believed(value: Any, size_bytes: int) -> int | None:
    count = _whole_number(value)
    return None if count is None or count * BYTES_PER_TOKEN_AT_BEST < size_bytes else count


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and -MOST <= value <= MOST


def _whole_number(value: Any) -> int | None:
    return int(value) if _is_number(value) and value >= 0 and value == int(value) else None


def _first(usage: Mapping[str, Any], *names: str) -> Any:
    return next((usage[name] for name in names if usage.get(name) is not None), None)


def _part(usage: Mapping[str, Any], groups: tuple[str, ...], name: str) -> int:
    """Read a count among the details of a usage; 0 where it is none."""
    for group in groups:
        details = usage.get(group)
        count = _whole_number(details.get(name)) if isinstance(details, Mapping) else None
        if count is not None:
            return count
    return 0


def _cached(usage: Mapping[str, Any]) -> int:
    detailed = _part(usage, ("prompt_tokens_details", "input_tokens_details"), "cached_tokens")
    top_level = (_whole_number(usage.get(name)) for name in ("prompt_cache_hit_tokens", "cache_read_input_tokens"))
    return max([detailed, *(count for count in top_level if count is not None)])


def _reasoning(usage: Mapping[str, Any]) -> int:
    return _part(usage, ("completion_tokens_details", "output_tokens_details"), "reasoning_tokens")
