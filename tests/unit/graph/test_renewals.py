"""Leases of claims, renewed by one thread until they are dropped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from graph.renewals import Renewals
from records.errors import LedgerError

EACH_S = 0.02


def within_seconds(fact: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not fact() and time.monotonic() < end:
        time.sleep(EACH_S / 4)
    return fact()


def test_each_lease_is_renewed_until_it_is_dropped_and_a_busy_database_ends_nothing() -> None:
    renewed: list[str] = []

    def claim(key: str, purpose: str) -> None:
        renewed.append(key)
        if key == "busy":
            raise LedgerError("the database is busy")

    renewals = Renewals(claim, EACH_S)
    renewals.hold("busy", "verify")
    renewals.hold("mine", "verify")
    assert within_seconds(lambda: renewed.count("mine") > 2 and renewed.count("busy") > 2)
    renewals.drop("mine", "verify")
    dropped = renewed.count("mine")
    assert within_seconds(lambda: renewed.count("busy") > dropped + 4) and renewed.count("mine") == dropped


def test_nothing_is_renewed_once_drop_has_returned() -> None:
    entered, goes_on, renewed = threading.Event(), threading.Event(), list[str]()

    def claim(key: str, purpose: str) -> None:
        entered.set()
        assert goes_on.wait(20)
        renewed.append(key)

    renewals = Renewals(claim, EACH_S)
    renewals.hold("mine", "verify")
    assert entered.wait(20)
    dropping = threading.Thread(target=renewals.drop, args=("mine", "verify"))
    dropping.start()
    dropping.join(5 * EACH_S)
    assert dropping.is_alive() and not renewed
    goes_on.set()
    dropping.join(20)
    assert not dropping.is_alive() and renewed == ["mine"]


def test_the_thread_ends_where_nothing_is_held_and_starts_again() -> None:
    renewed: list[str] = []
    renewals = Renewals(lambda key, purpose: renewed.append(key), EACH_S)
    before = set(threading.enumerate())
    renewals.hold("one", "verify")
    (thread,) = set(threading.enumerate()) - before
    renewals.drop("one", "verify")
    assert within_seconds(lambda: not thread.is_alive())
    renewals.hold("two", "benchmark")
    assert within_seconds(lambda: "two" in renewed)
    renewals.drop("two", "benchmark")


def test_a_lease_that_two_hold_is_renewed_until_both_drop_it() -> None:
    renewed: list[str] = []
    renewals = Renewals(lambda key, purpose: renewed.append(key), EACH_S)
    renewals.hold("both", "verify")
    renewals.hold("both", "verify")
    renewals.drop("both", "verify")
    before = len(renewed)
    assert within_seconds(lambda: len(renewed) > before)
    renewals.drop("both", "verify")
    after = len(renewed)
    time.sleep(5 * EACH_S)
    assert len(renewed) == after
