"""Nothing that an author reads has the name, the shape or a number of a held-out case."""

from __future__ import annotations

from dataclasses import replace

from agents.scientist.views import failure_view
from app.mcp.kernel_calls import verdict_of
from graph.lesson import lesson_of, reason_of
from records.concealment import HELD_OUT, is_open, name_told, told
from records.evaluation import CaseResult, Evaluation, Finding, Verdict
from records.experiment import Attempt, Experiment
from records.ledger import as_confirmed
from tasks.loader import load_task

SHAPE = "rows=7919,cols=104729"
SAID = "y[7918, 104728] is 4.25e-3 off, one of 829348951 elements"
NUMBERS = ("7919", "7918", "104729", "104728", "4.25", "829348951")
OPEN = CaseResult("rows=3,cols=5", "test", correct=False, message="y[2, 4] is wrong")


def evaluation(*cases: CaseResult, findings: tuple[Finding, ...] = ()) -> Evaluation:
    return Evaluation("key", "kernel", {}, Verdict("correct", False, "C.1", findings), cases=cases)


def held_out(name: str = SHAPE) -> CaseResult:
    return CaseResult(name, "held_out", correct=False, message=SAID)


def hidden() -> tuple[Evaluation, ...]:
    """By its role, as a family of inputs on a listed shape, without a row, without findings."""
    family = f"{OPEN.name} [7919]"
    return (
        evaluation(held_out(), findings=(Finding("wrong_result", SAID, line=3, case=SHAPE),)),
        evaluation(held_out(family), findings=(Finding("wrong_result", SAID, case=family),)),
        evaluation(OPEN, findings=(Finding("over_limit", SAID, case=SHAPE),)),
        evaluation(held_out()),
    )


def is_silent(text: object) -> bool:
    return not any(number in str(text) for number in NUMBERS)


def test_an_open_case_is_told_of_as_it_is() -> None:
    made = evaluation(OPEN)
    assert is_open(made, OPEN.name) and is_open(made, None) and is_open(made, SHAPE, {SHAPE})
    assert not is_open(made, SHAPE)
    assert reason_of(made) == "case rows=3,cols=5: y[2, 4] is wrong"
    assert told(made, OPEN.name, OPEN.message) == OPEN.message
    assert name_told(made, SHAPE) == HELD_OUT


def test_a_case_of_both_kinds_is_held_out() -> None:
    made = evaluation(OPEN, replace(OPEN, role="held_out"))
    assert not is_open(made, OPEN.name)


def test_reasons_lessons_and_confirmations_are_silent() -> None:
    experiment = Experiment("e", "run", 1, 1, None, None, "wider loads", "")
    for made in hidden():
        reason = reason_of(made)
        attempt = Attempt("e-a1", "run", "e", 1, 0, "c", "s", "rejected", "k", reason=reason)
        assert reason and is_silent(reason)
        assert is_silent(lesson_of(experiment, attempt, made))
        assert is_silent(as_confirmed(replace(attempt, status="accepted"), made).reason)


def test_prompts_and_answers_to_clients_are_silent() -> None:
    task = load_task("row_softmax", "mi300x")
    for made in hidden():
        assert is_silent(failure_view(made, task))
        assert is_silent(verdict_of(made, task, "source"))
        assert HELD_OUT in str(failure_view(made, task))
