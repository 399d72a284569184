"""The prices of the models of the settings: a person's own, those of the price file, or one assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from app.settings import Settings

if TYPE_CHECKING:
    from agents.model.price import Price, PriceFile

ASSUMED_USD = (1.25, 10.0)  # per million tokens of prompts and answers of a model whose price is not known


def price_files(settings: Settings) -> tuple[PriceFile, ...]:
    """List the price files: a person's own before the one that ships."""
    from agents.model.price import read_prices

    personal = () if settings.price_file is None else (read_prices(settings.price_file),)
    return (*personal, read_prices())


def price_of(settings: Settings, model: str) -> Price:
    """Find the price of one model; each part that the settings state counts before the files'."""
    from agents.model.price import Price

    price_in_file = next((price for file in price_files(settings) if (price := file.price(model)) is not None), None)
    stated = {
        "prompt_usd": settings.usd_per_million_prompt_tokens,
        "completion_usd": settings.usd_per_million_completion_tokens,
        "cached_usd": settings.usd_per_million_cached_tokens,
        "reasoning_usd": settings.usd_per_million_reasoning_tokens,
    }
    stated_usd = {name: usd for name, usd in stated.items() if usd is not None}
    if price_in_file is None:
        is_stated = "prompt_usd" in stated_usd and "completion_usd" in stated_usd
        return replace(Price(*ASSUMED_USD, is_known=is_stated), **stated_usd)  # type: ignore[arg-type]
    if "prompt_usd" in stated_usd:  # a price of cached tokens belongs to the price of those that are not
        price_in_file = replace(price_in_file, cached_usd=None, date="", source="")
    return replace(price_in_file, **stated_usd)  # type: ignore[arg-type]


def models_of(settings: Settings) -> tuple[str, ...]:
    """Every model that plays a role."""
    names = [name.strip() for several in settings.models().values() for name in several.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


def prices_of(settings: Settings) -> Mapping[str, Price]:
    """Find the price of every model of the settings."""
    return {model: price_of(settings, model) for model in models_of(settings)}


def price_lines(settings: Settings) -> list[str]:
    """Write a sentence on the price of each model, and where it is from."""
    lines = list[str]()
    for model, price in prices_of(settings).items():
        cached = "" if price.cached_usd is None else f" (cached ${price.cached_usd:g})"
        line = f"{model}: ${price.prompt_usd:g}{cached} a million prompt tokens, ${price.completion_usd:g} of answers"
        if not price.is_known:
            line += (
                ", assumed, because its price is unknown: set KERNEL_SCIENTIST_USD_PER_MILLION_PROMPT_TOKENS and "
                "…_COMPLETION_TOKENS, or name a KERNEL_SCIENTIST_PRICE_FILE"
            )
        elif price.date:
            line += f", as of {price.date} ({price.source.partition(' ')[0]})"
        lines.append(line)
    return lines
