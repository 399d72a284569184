"""A night in simulated time: faults come by the clock, and what grows is seen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from benchmarks.night import FAULT_S, FAULTS, NightServer, SimulatedClock
from benchmarks.soak import Look, Night, growth, slope
from tests.support.endpoint import Recorded


@pytest.mark.long
def test_a_short_night_ends_with_all_its_generations(tmp_path: Path) -> None:
    night = Night(tmp_path, 30, seed=2)
    context = night.drive()
    assert context.ledger.run(context.run.id).status == "done"
    assert len(night.looks) == 3
    assert night.server.faults > 3
    context.ledger.close()


def test_a_server_fails_once_a_minute_of_its_work_in_all_ways_and_waits_take_simulated_time() -> None:
    clock = SimulatedClock()
    question = Recorded("/v1/chat/completions", {}, {"model": "critic", "messages": []})
    with NightServer(clock, seed=1) as server:
        steps = []
        while server.faults < len(FAULTS):
            steps.append(server.answer(question))
            clock.sleep(3600.0)
    assert [step for step in steps if step in FAULTS] == list(FAULTS)
    assert len(FAULTS) <= server.worked_s / FAULT_S < 1.2 * len(FAULTS)
    assert clock.now() == pytest.approx(server.worked_s + 3600.0 * len(steps))


def test_the_second_half_says_what_grows() -> None:
    looks = [Look(n, 0.0, 100.0 + max(0, n - 50) / 10, 9 + n // 60, 5, 0.0, 0.0) for n in range(0, 101, 10)]
    assert slope(looks, "memory_mb") == pytest.approx(0.1, rel=0.05)
    assert (growth(looks, "descriptors"), growth(looks, "threads")) == (1, 0)
    assert slope(looks[:1], "memory_mb") == 0.0
