"""The limits of a run: what was asked for, and what a person changes later."""

from __future__ import annotations

from typing import Any

import pytest

from records.allowance import ALLOWED, NAMES, Allowance, checked_allowance, option_of
from records.errors import UsageError
from records.experiment import Event


def test_limits_are_read_among_other_settings_and_nothing_is_a_limit_too() -> None:
    limits = Allowance.of({"budget_usd": 0, "max_tokens": None, "generations": 3, "max_wall_seconds": 2.5})
    assert limits == Allowance(budget_usd=0, max_wall_seconds=2.5)
    assert limits.given() == {"budget_usd": 0, "max_wall_seconds": 2.5} and Allowance().given() == {}


def test_of_each_limit_the_last_word_counts() -> None:
    words: list[tuple[str, dict[str, Any]]] = [
        ("generation", {"max_calls": 1}),
        (ALLOWED, {"usd": 3.0}),
        (ALLOWED, {"max_tokens": 700}),
        (ALLOWED, {"usd": 4.0}),
        ("stopped", {"usd": 9.0}),
    ]
    events = [Event(number, kind, payload, "") for number, (kind, payload) in enumerate(words)]
    assert Allowance(budget_usd=1.0, max_calls=5).changed(events) == Allowance(4.0, 700, 5)
    assert Allowance(budget_usd=1.0).changed([]) == Allowance(budget_usd=1.0)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_from_zero_on_are_limits(name: str) -> None:
    for value in (0, 7, 7.0):
        found = checked_allowance({name: value, "other": "x"})
        assert found.given() == {name: value}
        is_counted = name in ("max_tokens", "max_calls", "max_evaluations")
        assert type(found.given()[name]) is (int if is_counted else float)
    assert checked_allowance({name: None}) == Allowance()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [-1, -0.5, float("nan"), float("inf"), True, "7", [7]])
def test_anything_else_is_refused_by_the_name_of_its_option(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=option_of(name)):
        checked_allowance({name: value})


@pytest.mark.parametrize("name", NAMES)
def test_what_is_counted_is_whole(name: str) -> None:
    if name in ("max_tokens", "max_calls", "max_evaluations"):
        with pytest.raises(UsageError, match="whole number"):
            checked_allowance({name: 1.5})
    else:
        assert checked_allowance({name: 1.5}).given() == {name: 1.5}
