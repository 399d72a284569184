"""The steps of a GEMM's author, and the clock's decisions on them."""

from __future__ import annotations

import pytest

from benchmarks.clock_campaign import FOLDER, CampaignStep, TriedStep, figures, load_steps, table, tried_candidates
from benchmarks.clock_candidates import ClockCandidate
from benchmarks.clock_times import ClockTime, TimedCandidate
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.lab_bench import evaluator


def timed(bound_us: float, expected_us: float) -> TimedCandidate:
    candidate = ClockCandidate("gemm", "seed.hip", "", "", {})
    return TimedCandidate(candidate, ClockTime("a", bound_us, bound_us), ClockTime("b", expected_us, expected_us))


def test_a_right_step_is_kept_and_a_wrong_one_is_not() -> None:
    steps = [
        CampaignStep("wrong", {"BM": 256}, take=False, why=""),
        CampaignStep("right", {"PAD": 8}, take=True, why=""),
        CampaignStep("next", {"WM": 4}, take=True, why=""),
    ]
    changes = [
        [{name: candidate.choice[name] for name in ("BM", "PAD", "WM")} for candidate in pair]
        for pair in tried_candidates(steps, FOLDER)
    ]
    base, padded = {"BM": 128, "PAD": 0, "WM": 2}, {"BM": 128, "PAD": 8, "WM": 2}
    assert changes == [[base, {**base, "BM": 256}], [base, padded], [padded, {**padded, "WM": 4}]]


@pytest.mark.parametrize(
    ("bounds", "expected", "before", "now"),
    [((10, 9.9), (10, 9.0), True, True), ((10, 10), (10, 9.9), False, False), ((9, 10), (10, 11), False, False)],
)
def test_a_clock_takes_what_is_shorter_beyond_its_error(
    bounds: tuple[float, float], expected: tuple[float, float], before: bool, now: bool
) -> None:
    base, changed = (timed(bound, time) for bound, time in zip(bounds, expected, strict=True))
    tried = TriedStep(CampaignStep("pad", {"PAD": 8}, take=True, why="banks"), base, changed, 0.05)
    assert (tried.is_taken_before, tried.is_taken_now) == (before, now)
    assert [(f.value, f.anchor_value) for f in figures([tried])] == [(now, before)]
    assert list(table([tried]))[2].count("leave") == 2 - before - now


@pytest.mark.slow
def test_the_clock_takes_the_right_steps_and_leaves_the_others() -> None:
    lab, task, steps = evaluator(0), load_task(FOLDER), load_steps()
    wrong, error = [], load_target("mi300x").clock["error"]
    for step, pair in zip(steps, tried_candidates(steps), strict=True):
        base, changed = (
            lab.estimate(lab.prepare(candidate.source, task, candidate.choice)).geomean_us for candidate in pair
        )
        assert base and changed, step.name
        if (base > changed * (1 + error)) != step.take:
            wrong.append((step.name, base, changed))
    assert not wrong and {step.take for step in steps} == {True, False}
