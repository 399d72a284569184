"""Waits that servers ask for, in each of the forms in use."""

from __future__ import annotations

import pytest

from agents.model.server_waits import LONGEST_S, asked_wait_s

DATE = {"date": "Wed, 21 Oct 2026 07:27:30 GMT"}


@pytest.mark.parametrize(
    ("headers", "text", "seconds"),
    [
        ({"retry-after": "17"}, "", 17.0),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after": "20s"}, "", 20.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", **DATE}, "", 30.0),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:00 GMT", **DATE}, "", 0.0),
        ({"retry-after": "-5"}, "", 0.0),
        ({"retry-after": "99999999"}, "", LONGEST_S),
        ({"x-ratelimit-reset": "1792567710", **DATE}, "", 60.0),
        ({"x-ratelimit-reset": "1792567710000", **DATE}, "", 60.0),
        ({"anthropic-ratelimit-requests-reset": "2026-10-21T07:28:00Z", **DATE}, "", 30.0),
        ({"ratelimit-reset": "12", "ratelimit-remaining": "0"}, "", 12.0),
        ({}, "Rate limit reached. Please try again in 1m2.5s. Visit us", 62.5),
        ({}, "Please retry after 20 seconds", 20.0),
        ({}, "Try again in 2 minutes.", 120.0),
        ({}, "try again in 20ms", 0.02),
        ({}, '{"retryDelay": "34s"}', 34.0),
        ({}, '{"retry_after": 12}', 12.0),
    ],
)
def test_a_wait_is_read_in_seconds(headers: dict[str, str], text: str, seconds: float) -> None:
    assert asked_wait_s(headers, text) == pytest.approx(seconds)


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "", "17 bananas"])
def test_nonsense_is_no_wait(value: str) -> None:
    assert asked_wait_s({"retry-after": value}) is None


def test_of_several_limits_the_one_that_is_used_up_counts() -> None:
    told = {
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-tokens": "6m0s",
        "x-ratelimit-remaining-tokens": "900",
    }
    assert asked_wait_s(told) == 2.0
