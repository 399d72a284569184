"""Money as an account: who is refused, who waits, what stays spent, and what is disproved."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from records.allowance import Allowance
from records.errors import BudgetExhausted
from records.experiment import ModelCall, Run, Usage
from records.ledger import Ledger

RUN = Run("run", "t", "mi300x", "lab", "llm", 1)


def call(key: str, usd: float = 0.4, tokens: int = 100) -> ModelCall:
    return ModelCall(key, RUN.id, "coder", "m", "p", "reserved", usd, usage=Usage(10, tokens))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "ledger.db")
    made.add_run(RUN)
    return made


def _in_thread(work: object, *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def test_a_caller_waits_for_those_in_flight(ledger: Ledger) -> None:
    ledger.reserve(call("a"), Allowance(0.5))
    waiting = _in_thread(ledger.reserve, call("b"), Allowance(0.5))
    waiting.join(0.2)
    assert waiting.is_alive()
    ledger.settle("a", "reply", Usage(usd=0.1))
    waiting.join(30)
    known = ledger.call("b")
    assert known is not None
    assert known.state == "reserved"


def test_a_caller_whom_no_end_of_others_would_help_is_refused_at_once(ledger: Ledger) -> None:
    refused = threading.Event()

    def other() -> None:
        with pytest.raises(BudgetExhausted) as caught:
            ledger.reserve(call("b", 0.6), Allowance(0.5))
        assert caught.value.limit == "budget_usd"
        refused.set()

    ledger.reserve(call("a"), Allowance(0.5))
    _in_thread(other).join(30)
    assert refused.is_set()


@pytest.mark.parametrize(
    ("most", "limit"),
    [(Allowance(0.0), "budget_usd"), (Allowance(max_tokens=0), "max_tokens"), (Allowance(max_calls=0), "max_calls")],
)
def test_a_limit_of_nothing_allows_nothing(ledger: Ledger, most: Allowance, limit: str) -> None:
    with pytest.raises(BudgetExhausted) as caught:
        ledger.reserve(call("a"), most)
    assert caught.value.limit == limit
    assert ledger.call("a") is None


def test_tokens_and_calls_in_flight_are_counted(ledger: Ledger) -> None:
    ledger.reserve(call("a"), Allowance(max_tokens=200))
    with pytest.raises(BudgetExhausted, match="110 tokens"):
        ledger.reserve(call("b"), Allowance(max_tokens=200))
    with pytest.raises(BudgetExhausted):
        ledger.reserve(call("b"), Allowance(max_calls=1))
    ledger.settle("a", "reply", Usage(10, 5))
    ledger.reserve(call("b"), Allowance(max_tokens=200, max_calls=2))


def test_the_last_of_a_budget_is_asked_for_shorter_answers(ledger: Ledger) -> None:
    fitted = ledger.reserve(call("a", 1.01, 1000), Allowance(0.51), least=call("a", 0.11, 100))
    assert fitted.usage.completion_tokens == 500
    assert fitted.reserved_usd == pytest.approx(0.51)
    ledger.settle("a", "reply", Usage(usd=0.45))
    with pytest.raises(BudgetExhausted):
        ledger.reserve(call("b", 1.01, 1000), Allowance(0.51), least=call("b", 0.11, 100))


def test_what_was_sent_stays_spent_and_is_told(ledger: Ledger) -> None:
    ledger.reserve(call("a"), Allowance(1.0))
    assert ledger.lose("a") == 0.4
    assert ledger.lose("a") == 0.0
    assert ledger.paid_usd(RUN.id) == 0.4
    assert ledger.spend(RUN.id).completion_tokens == 100
    assert [(e.kind, e.payload["usd"]) for e in ledger.events(RUN.id)] == [("lost_answer", 0.4)]
    with pytest.raises(BudgetExhausted):
        ledger.reserve(call("a"), Allowance(0.7))


def test_calls_of_a_process_that_died_are_lost(ledger: Ledger, tmp_path: Path) -> None:
    ledger.reserve(call("a"), Allowance(1.0))
    with Ledger(tmp_path / "ledger.db") as later:
        assert later.abandon(RUN.id) == 0.4
        assert later.lost(RUN.id) == (1, 0.4)
        with pytest.raises(BudgetExhausted):
            later.reserve(call("b"), Allowance(0.7))
    assert ledger.abandon(RUN.id) == 0.0


def test_an_answer_that_comes_after_all_disproves_the_loss(ledger: Ledger, tmp_path: Path) -> None:
    ledger.reserve(call("a"), Allowance(1.0))
    with Ledger(tmp_path / "ledger.db") as other:
        other.abandon(RUN.id)
    ledger.settle("a", "reply", Usage(3, 4, 0.1))
    spend = ledger.spend(RUN.id)
    assert (spend.calls, spend.prompt_tokens, spend.completion_tokens) == (1, 3, 4)
    assert spend.usd == pytest.approx(0.1)
    assert ledger.lost(RUN.id) == (0, 0.0)


def test_calls_of_another_process_are_given_up_after_the_patience(ledger: Ledger, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as other:
        other.reserve(call("a"), Allowance(1.0))
    with pytest.raises(BudgetExhausted):
        ledger.reserve(call("b", 0.7), Allowance(1.0), patience_s=0.1)
    assert ledger.lost(RUN.id) == (1, 0.4)


def test_the_same_question_of_two_threads_is_answered_once(ledger: Ledger) -> None:
    answers = list[ModelCall]()
    ledger.reserve(call("a"), Allowance(9.0))
    second = _in_thread(lambda: answers.append(ledger.reserve(call("a"), Allowance(9.0))))
    second.join(0.2)
    ledger.settle("a", "reply", Usage(usd=0.1))
    second.join(30)
    assert [answer.reply for answer in answers] == ["reply"]
    assert ledger.lost(RUN.id) == (0, 0.0)


def test_another_run_has_its_own_account(ledger: Ledger) -> None:
    ledger.add_run(replace(RUN, id="other"))
    ledger.reserve(replace(call("a"), run_id="other"), Allowance(0.5))
    ledger.reserve(call("b"), Allowance(0.5))
