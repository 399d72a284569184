"""Limits on the command line: shown before a run, inherited by `resume`, extended there, and 0 is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from app.allowing import asked_allowance, cost_at_most, extend_limits, meter_of
from app.commands.options import seconds_of
from app.pricing import ASSUMED_USD, price_lines, price_of
from app.settings import Settings
from records.allowance import Allowance, checked_allowance
from records.errors import UsageError
from records.experiment import Run
from records.ledger import Ledger

RUN = Run("r", "t", "mi300x", "lab", "llm", 1, config={"budget_usd": 0.0, "max_calls": 7})


def settings(**options: Any) -> Settings:
    return Settings(_env_file=None, **options)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    fresh = Ledger(tmp_path / "ledger.db")
    fresh.add_run(RUN)
    return fresh


def test_a_budget_of_nothing_stays_nothing(ledger: Ledger) -> None:
    assert asked_allowance(settings(), {"budget_usd": 0}).budget_usd == 0.0
    assert asked_allowance(settings(), {"budget_usd": None}).budget_usd == 5.0
    assert asked_allowance(settings(max_calls=0), {}).max_calls == 0
    assert meter_of(settings(), RUN, ledger).allowance == Allowance(0.0, max_calls=7)


def test_what_resume_changes_is_inherited_by_the_next_and_the_last_word_counts(ledger: Ledger) -> None:
    extend_limits(ledger, RUN, {"budget_usd": 3.0})
    extend_limits(ledger, RUN, {"budget_usd": 2.0, "max_wall_seconds": 60.0})
    extend_limits(ledger, RUN, {"budget_usd": None})
    assert meter_of(settings(), RUN, ledger).allowance == Allowance(2.0, max_calls=7, max_wall_seconds=60.0)


def test_a_run_that_met_a_limit_goes_on_and_one_that_is_done_does_not(ledger: Ledger) -> None:
    ledger.finish(RUN.id, "done", "met", "limit")
    assert extend_limits(ledger, ledger.run(RUN.id), {"max_calls": 9}).status == "running"
    ledger.finish(RUN.id, "done", "nothing is left to try")
    assert extend_limits(ledger, ledger.run(RUN.id), {"max_calls": 11}).status == "done"


@pytest.mark.parametrize(
    "limits",
    [
        {"budget_usd": -1},
        {"max_calls": 1.5},
        {"max_tokens": float("inf")},
        {"max_wall_seconds": True},
        {"max_calls": "9"},
    ],
)
def test_a_limit_that_is_no_amount_is_refused_by_its_option(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--" + next(iter(limits)).replace("_", "-")):
        checked_allowance(limits)


def test_a_time_is_read_with_its_unit() -> None:
    assert [seconds_of(text) for text in ("90", "90s", "1.5m", "8h", "2d", "0")] == [90, 90, 90, 28_800, 172_800, 0]
    for text in ("", "h", "-1", "8 hours", "nan"):
        with pytest.raises(typer.BadParameter):
            seconds_of(text)


def test_the_highest_cost_is_the_budget_or_what_the_tokens_cost() -> None:
    priced = settings(model="gpt-5.1")
    assert cost_at_most(priced, Allowance(5.0)) == 5.0
    assert cost_at_most(priced, Allowance(5.0, max_tokens=100_000)) == pytest.approx(1.0)
    assert cost_at_most(priced, Allowance(0.0, max_tokens=100_000)) == 0.0


def test_prices_are_stated_or_known_or_said_to_be_unknown(tmp_path: Path) -> None:
    assert price_of(settings(model="gpt-5.1"), "gpt-5.1").cached_usd == 0.125
    unknown = settings(model="my-model")
    assert (price_of(unknown, "my-model").prompt_usd, price_of(unknown, "my-model").completion_usd) == ASSUMED_USD
    assert "unknown" in price_lines(unknown)[0]
    assert "unknown" not in price_lines(settings(model="gpt-5.1"))[0]
    free = settings(model="my-model", usd_per_million_prompt_tokens=0, usd_per_million_completion_tokens=0)
    assert price_of(free, "my-model").cost_usd(10**6, 10**6) == 0.0
    assert "unknown" not in price_lines(free)[0]
    stated = settings(usd_per_million_prompt_tokens=0.05)
    assert price_of(stated, "gpt-5.1").cached_usd is None, "a cache dearer than what is not in it"
    file = tmp_path / "prices.toml"
    file.write_text('date = "2026-11-01"\nsource = "a bill"\n[models]\nmy-model = { prompt = 3, completion = 4 }\n')
    own_prices = settings(model="my-model", price_file=file)
    assert price_of(own_prices, "my-model").prompt_usd == 3.0
    assert "2026-11-01" in price_lines(own_prices)[0]
