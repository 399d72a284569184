"""Requests and tokens a minute, by settings and by headers, on a clock that stands still."""

from __future__ import annotations

from agents.model.pace import LONGEST_S, Pace


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_requests_above_the_limit_wait_for_the_next_minute() -> None:
    pace = Pace(2, None, Clock())
    assert [pace.admit(1) for _ in range(5)] == [0.0, 0.0, 60.0, 60.0, 120.0]


def test_tokens_above_the_limit_wait_and_one_too_large_goes_alone() -> None:
    pace = Pace(None, 100, Clock())
    assert [pace.admit(n) for n in (60, 30, 30, 500, 10)] == [0.0, 0.0, 60.0, 120.0, 180.0]


def test_without_limits_nobody_waits() -> None:
    pace = Pace(None, None, Clock())
    assert {pace.admit(10**9) for _ in range(9)} == {0.0}


def test_the_minute_moves_on() -> None:
    clock = Clock()
    pace = Pace(1, None, clock)
    pace.admit(1)
    clock.now += 61
    assert pace.admit(1) == 0.0


def test_what_headers_say_is_left_is_used_up_and_comes_back() -> None:
    clock = Clock()
    pace = Pace(None, None, clock)
    pace.learn({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "20s"})
    assert [pace.admit(1), pace.admit(1)] == [0.0, 20.0]
    clock.now += 21
    assert pace.admit(1) == 0.0


def test_tokens_that_headers_say_are_left_bound_a_request() -> None:
    pace = Pace(None, None, Clock())
    pace.learn({"x-ratelimit-remaining-tokens": "500", "x-ratelimit-reset-tokens": "6s"})
    assert [pace.admit(400), pace.admit(400)] == [0.0, 6.0]


def test_headers_alone_never_hold_for_long() -> None:
    pace = Pace(None, None, Clock())
    pace.learn({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "24h"})
    assert pace.admit(1) == LONGEST_S


def test_a_wait_that_one_caller_was_told_holds_the_others() -> None:
    pace = Pace(None, None, Clock())
    pace.hold(9.0, caller=1)
    assert [pace.admit(1, 1), pace.admit(1, 2)] == [0.0, 9.0]
