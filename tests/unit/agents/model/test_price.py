"""Prices: the file that ships, one of a person's own, and what is unknown."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agents.model.price import Price, read_prices
from records.errors import SettingsError


def test_the_shipped_file_has_a_date_a_source_and_the_default_model() -> None:
    shipped = read_prices()
    assert date.fromisoformat(shipped.date) > date(2026, 1, 1)
    assert shipped.source.startswith("https://")
    assert shipped.price("gpt-5.1") == Price(1.25, 10.0, 0.125, tiers={"batch": 0.5, "flex": 0.5, "priority": 2.0})
    assert all(price.completion_usd >= price.prompt_usd for price in shipped.prices.values())


def test_a_model_is_found_behind_its_provider_and_without_its_date_and_no_other_is_taken_for_it() -> None:
    shipped = read_prices()
    for name in ("openai/gpt-5-mini", "gpt-5-mini-2025-08-07", "openai/gpt-5-mini-20250807"):
        assert shipped.price(name) == shipped.price("gpt-5-mini")
    for name in ("gpt-5-mini-turbo", "my-gpt-5-mini", "llama-3.3-70b", ""):
        assert shipped.price(name) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        'date = "d"\nsource = "s"\n[models]\na = { prompt = -1, completion = 1 }',
        'date = "d"\nsource = "s"\n[models]\na = { prompt = 1 }',
        'date = "d"\nsource = "s"\n[models]\na = { prompt = 1, completion = 1, words = 3 }',
        'date = "d"\nsource = "s"\n[models]\na = { prompt = true, completion = nan }',
        'date = "d"\nsource = "s"\nmodels = 3',
    ],
)
def test_a_file_that_is_none_is_told_with_its_form(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="price file"):
        read_prices(path)


def test_the_worst_cost_takes_the_dearest_kind_of_token() -> None:
    assert Price(1.0, 2.0, 5.0, 4.0).worst_usd(1_000_000, 1_000_000) == pytest.approx(9.0)
