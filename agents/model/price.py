"""The cost of tokens: the prices of a model, each with its date and its source, and the file of them that ships.

A price that a person states counts before the file's, and a model that neither knows is told as unknown: its tokens are
counted at a price that few models exceed, so that a budget means something.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from records.errors import SettingsError

SHIPPED = Path(__file__).with_name("prices.toml")
# Four bytes a token is the average of English prose. Source code and numbers come nearer to two, and a reservation
# that is too small breaks the budget, while one that is too large is given back a minute later.
BYTES_PER_TOKEN_AT_WORST = 2
TOKENS_PER_MESSAGE = 8
_DATED = re.compile(r"-20\d\d-?\d\d-?\d\d$")  # of a snapshot of a model, which costs what the model does
_FIELDS = frozenset({"prompt", "completion", "cached", "reasoning"})


@dataclass(frozen=True)
class Price:
    """USD per million tokens; zero for a local model."""

    prompt_usd: float = 0.0
    completion_usd: float = 0.0
    cached_usd: float | None = None  # of prompt tokens that the server had in its cache; those of the prompt without
    reasoning_usd: float | None = None  # of completion tokens that are not shown; those of the completion without
    tiers: Mapping[str, float] = field(default_factory=dict)  # factors by service tier, such as batch: 0.5
    is_known: bool = True  # stated by a person or a price file, not assumed
    date: str = ""  # when it was true, ISO 8601; empty where a person's settings state it
    source: str = ""  # where it was read

    def cost_usd(
        self,
        prompt_tokens: int,
        completion_tokens: int,
        cached_tokens: int = 0,
        reasoning_tokens: int = 0,
        tier: str = "",
    ) -> float:
        """Cost of this many tokens; cached ones are part of the prompt's, those of reasoning of the completion's."""
        cached = self.prompt_usd if self.cached_usd is None else self.cached_usd
        reasoning = self.completion_usd if self.reasoning_usd is None else self.reasoning_usd
        plain = (prompt_tokens - cached_tokens) * self.prompt_usd + cached_tokens * cached
        answer = (completion_tokens - reasoning_tokens) * self.completion_usd + reasoning_tokens * reasoning
        return self.tiers.get(tier, 1.0) * (plain + answer) / 1e6

    def worst_usd(self, prompt_tokens: int, max_tokens: int) -> float:
        """Compute the most that so many tokens cost, whatever part of them is cached or reasoning."""
        prompt = max(usd for usd in (self.prompt_usd, self.cached_usd) if usd is not None)
        answer = max(usd for usd in (self.completion_usd, self.reasoning_usd) if usd is not None)
        return (prompt_tokens * prompt + max_tokens * answer) / 1e6


def most_prompt_tokens(prompt_bytes: int, messages: int) -> int:
    """Tokens that a prompt has at worst."""
    return prompt_bytes // BYTES_PER_TOKEN_AT_WORST + TOKENS_PER_MESSAGE * messages + 1


@dataclass(frozen=True)
class PriceFile:
    """Prices by the names of models."""

    prices: Mapping[str, Price]

    def price(self, model: str) -> Price | None:
        """Find the price of a model, also behind a provider's name and without a snapshot's date; None if unknown."""
        last = model.rpartition("/")[2]
        names = (model, last, _DATED.sub("", last))
        return next((self.prices[name] for name in names if name in self.prices), None)


def read_prices(path: Path = SHIPPED) -> PriceFile:
    """Read the prices of a file; SettingsError, with the place, where it cannot be read."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = {str(name): _sourced(row, document) for name, row in document["models"].items()}
        return PriceFile(rows)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as e:
        raise SettingsError(
            f"the price file {path} cannot be read ({e}); it has date, source, and under [models] a line such as "
            '"gpt-5.1" = { prompt = 1.25, cached = 0.125, completion = 10 }'
        ) from None


def _sourced(row: Mapping[str, Any], document: Mapping[str, Any]) -> Price:
    """Read a row with the date, the source and the tiers of the source that it names, else with the file's."""
    prices = dict(row)
    origin = document["sources"][prices.pop("source")] if "source" in prices else document
    tiers = {str(name): _number(value) for name, value in origin.get("tiers", {}).items()}
    date, source = str(origin["date"]), str(origin["source"])
    return replace(_price(prices), tiers=tiers, date=date, source=source)


def _price(row: Mapping[str, Any]) -> Price:
    if unknown := sorted(set(row) - _FIELDS):
        raise ValueError(f"no price is called {unknown[0]}")
    prices = {f"{name}_usd": _number(value) for name, value in row.items()}
    return Price(prompt_usd=prices.pop("prompt_usd"), completion_usd=prices.pop("completion_usd"), **prices)  # type: ignore[arg-type]


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is no price")
    return float(value)
