"""The windows of a race and what is concluded of them, without a GPU."""

from __future__ import annotations

import random

from app.beating.race import RaceWindows, contest
from sandbox.gpu.timing.contrast import CHALLENGER, INCUMBENT


def test_the_faster_of_two_calls_is_found_from_windows_in_turns() -> None:
    noise, order = random.Random(1), list[str]()

    def call(tag: str, time_us: float) -> object:
        return lambda: (order.append(tag), time_us * noise.uniform(0.99, 1.01))[1]

    calls = {CHALLENGER: call(CHALLENGER, 40.0), INCUMBENT: call(INCUMBENT, 50.0)}
    windows = RaceWindows(calls, lambda one: one())  # type: ignore[arg-type]
    row, ours_us, theirs_us = contest("n=64", windows, random.Random(2))
    assert row.verdict == "faster" and row.low < 0.8 < row.high and row.windows == len(order)
    assert 39 < ours_us < 41 and 49 < theirs_us < 51
    pairs = {tuple(order[n : n + 2]) for n in range(0, len(order), 2)}
    assert pairs == {(CHALLENGER, INCUMBENT), (INCUMBENT, CHALLENGER)}
