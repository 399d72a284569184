"""Every second of a run is in one stage, whatever the order of events."""

from __future__ import annotations

import random
from typing import Any

import pytest

from records.experiment import Event
from records.stage_clock import STAGES, StageClock, stage_clock, stages_text


def stage(name: str, experiment: str = "") -> dict[str, Any]:
    return {"event": "stage", "stage": name, "experiment": experiment}


def attempt(experiment: str) -> dict[str, Any]:
    return {"event": "attempt", "experiment": experiment, "stage": "time"}


def test_parallel_experiments_share_the_time_and_the_run_has_what_is_between_them() -> None:
    clock = StageClock(0.0)
    for moment, event in (
        (2.0, stage("experiments")),
        (3.0, stage("compile", "e1")),
        (5.0, stage("explore", "e2")),
        (9.0, attempt("e1")),
        (10.0, attempt("e2")),
        (11.0, stage("confirm")),
    ):
        clock.take(event, moment)
    clock.pass_to(15.0)
    assert clock.seconds == {"start": 2.0, "experiments": 2.0, "compile": 4.0, "explore": 3.0, "confirm": 4.0}
    assert [(s.stage, s.since) for s in clock.current] == [("confirm", 11.0)]


def test_a_try_goes_back_to_the_bench_and_a_stage_of_the_run_ends_what_a_limit_left_open() -> None:
    clock = StageClock(0.0)
    for moment, event in ((0.0, stage("bench", "e")), (1.0, stage("try", "e")), (3.0, attempt("e"))):
        clock.take(event, moment)
    assert [s.stage for s in clock.current] == ["bench"]
    clock.take(stage("confirm"), 4.0)
    assert (clock.seconds, [s.stage for s in clock.current]) == ({"bench": 2.0, "try": 2.0}, ["confirm"])


@pytest.mark.parametrize("seed", range(5))
def test_all_stages_add_up_to_the_whole(seed: int) -> None:
    draw, clock, moment = random.Random(seed), StageClock(7.0), 7.0
    for _ in range(300):
        moment += draw.random()
        experiment = draw.choice(["", "e1", "e2", "e3"])
        event = stage(draw.choice(list(STAGES)), experiment) if draw.random() < 0.7 else attempt(experiment)
        clock.take(event, moment)
    assert sum(clock.seconds.values()) == pytest.approx(moment - 7.0)


def event_at(second: int, kind: str, **payload: Any) -> Event:
    return Event(second, kind, payload, f"2026-01-01T00:00:{second:02}.000+00:00")


def test_a_diary_counts_only_while_a_process_drives_the_run() -> None:
    clock = stage_clock(
        [
            event_at(0, "driving"),
            event_at(1, "stage", experiment="", stage="plan"),
            event_at(4, "driven"),
            event_at(20, "driving"),
            event_at(22, "stage", experiment="e", stage="verify"),
            event_at(23, "attempt", experiment="e"),  # killed here
            event_at(40, "driving"),
            event_at(41, "stage", experiment="", stage="compose"),
        ]
    )
    assert clock.seconds == pytest.approx({"start": 4.0, "plan": 3.0, "verify": 1.0})
    assert [s.stage for s in clock.current] == ["compose"]


def test_the_line_has_the_longest_first_and_sums_up_the_rest() -> None:
    assert stages_text({"a": 3.0, "b": 12.2, "c": 0.3}) == "b 12 s, a 3 s, others 0.3 s"
