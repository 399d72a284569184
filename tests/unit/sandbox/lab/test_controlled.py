"""Who is blamed for a step without an answer: a control decides, and a starved host decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from records.errors import HostStarved, LabError, NoAnswer
from records.evaluation import Evaluation, Verdict
from sandbox.lab.controlled import PAUSES_S, Controlled

RIGHT = Evaluation("key", "id", {}, Verdict("correct", True, "OK"))


def steps(*ends: BaseException | Evaluation | None) -> tuple[Callable[[], Evaluation], Callable[[], int]]:
    """A step that ends so each time it is taken, and how often it was."""
    left: Iterator[BaseException | Evaluation | None] = iter(ends)
    taken: list[int] = []

    def step() -> Evaluation:
        taken.append(1)
        end = next(left)
        if isinstance(end, BaseException):
            raise end
        return end or RIGHT

    return step, lambda: len(taken)


def trial(*control: BaseException | None) -> tuple[Controlled, Callable[[], int], list[float]]:
    paused: list[float] = []
    step, count = steps(*control)
    return Controlled(lambda: step() and None, paused.append), count, paused


def test_an_answer_needs_no_control() -> None:
    made, controls, paused = trial()
    assert made.evaluate(lambda: RIGHT, steps(RIGHT)[0]) == RIGHT
    assert (controls(), paused) == (0, [])


def test_a_candidate_that_fails_alone_and_twice_is_rejected() -> None:
    made, controls, _ = trial(None)
    step, count = steps(NoAnswer("no result"), NoAnswer("no result"))
    verdict = made.evaluate(lambda: RIGHT, step).verdict
    assert not verdict.accepted
    assert verdict.stage == "execute"
    assert (count(), controls()) == (2, 1)


def test_a_machine_on_which_the_control_fails_is_to_blame() -> None:
    made, _, _ = trial(LabError("it fails as well"))
    with pytest.raises(NoAnswer, match="no result"):
        made.evaluate(lambda: RIGHT, steps(NoAnswer("no result"))[0])


def test_a_failure_that_does_not_come_again_decides_nothing() -> None:
    made, _, _ = trial(None)
    assert made.evaluate(lambda: RIGHT, steps(NoAnswer("once"), RIGHT)[0]) == RIGHT


def test_another_fault_of_the_machine_is_raised_at_once() -> None:
    made, controls, _ = trial()
    with pytest.raises(LabError, match="no space"):
        made.evaluate(lambda: RIGHT, steps(LabError("no space"))[0])
    assert controls() == 0


def test_a_starved_host_is_asked_again_with_longer_pauses_and_not_for_ever() -> None:
    made, _, paused = trial()
    assert made.evaluate(lambda: RIGHT, steps(HostStarved("busy"), HostStarved("busy"), RIGHT)[0]) == RIGHT
    assert paused == list(PAUSES_S[:2])
    with pytest.raises(HostStarved):
        made.evaluate(lambda: RIGHT, steps(*[HostStarved("busy")] * 9)[0])
