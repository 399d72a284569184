"""Prices: the file that ships, one of a person's own, and what is unknown."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agents.model.price import Price, read_prices
from records.errors import SettingsError


def test_every_shipped_row_has_a_date_and_a_source_and_the_default_model_is_one() -> None:
    shipped = read_prices()
    for price in shipped.prices.values():
        assert date.fromisoformat(price.date) > date(2025, 1, 1)
        assert price.source.startswith("https://")
        assert price.completion_usd >= price.prompt_usd
    default = shipped.price("gpt-5.1")
    assert default is not None
    assert (default.prompt_usd, default.completion_usd, default.cached_usd) == (1.25, 10.0, 0.125)
    assert default.tiers == {"batch": 0.5, "flex": 0.5, "priority": 2.0}


def test_a_row_is_of_the_source_that_it_names_and_else_of_the_files(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        'date = "2026-01-02"\nsource = "mine"\n[sources.b]\ndate = "2026-03-04"\nsource = "theirs"\n'
        '[models]\na = { prompt = 1, completion = 2 }\nb = { prompt = 1, completion = 2, source = "b" }\n',
        encoding="utf-8",
    )
    assert {n: (p.date, p.source) for n, p in read_prices(path).prices.items()} == {
        "a": ("2026-01-02", "mine"),
        "b": ("2026-03-04", "theirs"),
    }


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
        "[models]\na = { prompt = 1, completion = 1 }",
        'date = "d"\nsource = "s"\n[models]\na = { prompt = 1, completion = 1, source = "nowhere" }',
    ],
)
def test_a_file_that_is_none_is_told_with_its_form(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="price file"):
        read_prices(path)


def test_the_worst_cost_takes_the_dearest_kind_of_token() -> None:
    assert Price(1.0, 2.0, 5.0, 4.0).worst_usd(1_000_000, 1_000_000) == pytest.approx(9.0)
