from __future__ import annotations

import pytest

from sandbox.lab.cost.clock import STALLS, WORK
from sandbox.lab.cost.timeline import Timeline


def line(*ends: float) -> Timeline:
    return Timeline(ends, dict.fromkeys(STALLS, 1.0), (1.0, 2.0, 3.0), dict.fromkeys(WORK, 4.0), 10.0, ())


def test_workgroups_that_were_walked_through_end_when_they_did() -> None:
    assert [line(10, 11, 20, 21).clocks(n, 2) for n in (1, 2, 4)] == [10, 11, 21]


def test_further_ones_end_at_the_rate_of_whole_rounds() -> None:
    assert line(10, 11, 20, 21, 30, 31).clocks(8, 2) == pytest.approx(41)
    assert line(10.0).clocks(3, 1) == 30
    assert line().clocks(3, 1) == 0


def test_workgroups_that_share_their_work_take_the_mean() -> None:
    shared = line(30, 0, 0).shared(0.5)
    assert shared.ends == (5, 5, 5) and shared.bytes == (0.5, 1.0, 1.5) and shared.work["valu"] == 2.0
