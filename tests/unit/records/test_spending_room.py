"""The room for one more call: what is spent, what is held by calls in flight, and what would fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from records.allowance import Allowance
from records.errors import BudgetExhausted
from records.experiment import ModelCall, Run, Usage
from records.ledger import Ledger
from records.spending_room import SpendingRoom

RUN = Run("one", "row_softmax", "mi300x", "lab", "llm", 7)


def call(key: str, usd: float, tokens: int, run_id: str = RUN.id) -> ModelCall:
    """A call with a prompt of 100 tokens and so many of its answer."""
    return ModelCall(key, run_id, "coder", "m", "p", "reserved", usd, usage=Usage(100, tokens, 0.0))


@contextmanager
def room(folder: Path, most: Allowance, asking: str = "new") -> Iterator[SpendingRoom]:
    """A run that has spent 2 dollars, 1,000 tokens and a call, with a call of as much in flight."""
    with Ledger(folder / "ledger.db") as ledger:
        ledger.add_run(replace(RUN, id="other"))
        ledger.reserve(call("other", 50.0, 900, "other"), Allowance())
        ledger.add_run(RUN)
        ledger.reserve(call("paid", 9.0, 900), Allowance())
        ledger.settle("paid", "reply", Usage(100, 900, 2.0))
        ledger.reserve(call("flying", 2.0, 900), Allowance())
        yield SpendingRoom(ledger.engine.connection, call(asking, 1.0, 300), most)


LEAST, CALL = call("new", 1.0, 300), call("new", 3.0, 900)


@pytest.mark.parametrize(
    "most",
    [
        Allowance(),
        Allowance(budget_usd=7.0),
        Allowance(max_tokens=3000),
        Allowance(max_calls=3),
        Allowance(7.0, 3000, 3, 0, 0.0, 0.0),
    ],
)
def test_a_call_that_fits_is_reserved_as_it_is(tmp_path: Path, most: Allowance) -> None:
    with room(tmp_path, most) as space:
        assert space.fitted(CALL, LEAST) == CALL and space.held == ("flying",)
        space.refuse(CALL, can_wait=False)


@pytest.mark.parametrize(
    ("most", "limit"),
    [
        (Allowance(budget_usd=4.9), "budget_usd"),
        (Allowance(max_tokens=2399), "max_tokens"),
        (Allowance(max_calls=2), "max_calls"),
    ],
)
def test_where_the_least_has_no_room_now_it_waits_for_the_calls_in_flight(
    tmp_path: Path, most: Allowance, limit: str
) -> None:
    with room(tmp_path, most) as space:
        assert space.fitted(CALL, LEAST) is None
        space.refuse(LEAST, can_wait=True)
        with pytest.raises(BudgetExhausted) as told:
            space.refuse(LEAST, can_wait=False)
    assert told.value.limit == limit and ("$" in str(told.value)) is (limit == "budget_usd")


def test_where_nothing_in_flight_could_make_room_the_call_is_refused_for_good(tmp_path: Path) -> None:
    with room(tmp_path, Allowance(budget_usd=2.9)) as space, pytest.raises(BudgetExhausted):
        space.refuse(LEAST, can_wait=True)


@pytest.mark.parametrize("most", [Allowance(budget_usd=4.5 + 2.0), Allowance(max_tokens=2000 + 850)])
def test_a_call_that_will_fit_later_is_not_cut_down(tmp_path: Path, most: Allowance) -> None:
    with room(tmp_path, most) as space:
        assert space.fitted(CALL, LEAST) is None


def test_a_call_that_never_fits_is_cut_down_to_the_largest_that_does(tmp_path: Path) -> None:
    with room(tmp_path, Allowance(max_tokens=1600), asking="flying") as space:
        assert space.held == ()
        fitted = space.fitted(CALL, LEAST)
    assert fitted is not None and fitted.usage.completion_tokens == 500
    assert fitted.reserved_usd == pytest.approx(1.0 + 2.0 * 200 / 600) and fitted.usage.prompt_tokens == 100


def test_a_call_without_an_answer_to_cut_is_taken_or_not(tmp_path: Path) -> None:
    with room(tmp_path, Allowance(budget_usd=3.5), asking="flying") as space:
        fitted = space.fitted(call("flying", 2.0, 300), LEAST)
    assert fitted is not None and fitted.usage.completion_tokens == 300
    assert fitted.reserved_usd == pytest.approx(1.0)


def test_a_run_without_calls_has_all_its_limits(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        ledger.add_run(RUN)
        space = SpendingRoom(ledger.engine.connection, CALL, Allowance(3.0, 1000, 1))
        assert space.fitted(CALL, LEAST) == CALL and space.held == ()
        space.refuse(CALL, can_wait=False)
