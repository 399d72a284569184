"""Properties of shared objects are computed by one thread, and those of two objects at the same time."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from records.computed_once import computed_once

THREADS = 8


@dataclass(frozen=True)
class Counted:
    """An object whose property tells how often it was computed."""

    meet: threading.Barrier
    calls: list[int] = field(default_factory=list)

    @computed_once
    def made(self) -> list[int]:
        """A list of its own each time that it is computed."""
        self.calls.append(1)
        with contextlib.suppress(threading.BrokenBarrierError):
            self.meet.wait(0.2)
        return []

    @computed_once
    def refused(self) -> int:
        """Not to be had the first time."""
        self.calls.append(1)
        if len(self.calls) == 1:
            raise ValueError("not yet")
        return len(self.calls)

    @computed_once
    def doubled(self) -> int:
        """Needs another one."""
        return 2 * len(self.made)


def test_threads_that_ask_together_get_one_value() -> None:
    one = Counted(threading.Barrier(2))
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda _: one.made, range(THREADS)))
    assert len(one.calls) == 1 and all(each is found[0] for each in found)
    assert set(vars(one)) == {"meet", "calls", "made"}  # no lock is left


def test_two_objects_compute_at_the_same_time() -> None:
    meet = threading.Barrier(2)
    pair = Counted(meet), Counted(meet)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda each: each.made, pair))
    assert not meet.broken


def test_what_is_raised_is_not_kept_and_another_property_may_be_needed() -> None:
    one = Counted(threading.Barrier(1))
    with pytest.raises(ValueError, match="not yet"):
        _ = one.refused
    assert one.refused == one.refused == 2
    assert one.doubled == 0
    assert isinstance(Counted.made, computed_once)
