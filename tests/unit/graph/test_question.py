from typing import Any

import pytest
from langgraph.types import Interrupt

from graph.question import allowed_of, approved_of, asks_for_more, questions
from records.errors import LimitReached

IDS = ["g001-e1", "g001-e2"]


@pytest.mark.parametrize(
    ("answer", "approved"),
    [
        (True, {"g001-e1", "g001-e2"}),
        (False, set()),
        ([], set()),
        (["g001-e2"], {"g001-e2"}),
        ({"approve": True}, {"g001-e1", "g001-e2"}),
        ({"approve": ["g001-e1"]}, {"g001-e1"}),
    ],
)
def test_an_answer_names_what_it_approves(answer: Any, approved: set[str]) -> None:
    assert approved_of(answer, IDS) == approved


@pytest.mark.parametrize("answer", ["yes", 1, None, ["g009-e1"], [{}], {"aprove": True}, {"approve": "g001-e1"}, {}])
def test_an_answer_that_cannot_be_read_approves_nothing_and_refuses_nothing(answer: Any) -> None:
    assert approved_of(answer, IDS) is None


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        (7, 7.0),
        (0.5, 0.5),
        ({"budget_usd": 3}, 3.0),
        (True, None),
        (-1, None),
        (float("nan"), None),
        (float("inf"), None),
        ("7", None),
        ({}, None),
    ],
)
def test_an_amount_is_a_number_of_dollars(answer: Any, allowed: float | None) -> None:
    assert allowed_of(answer) == allowed


def test_questions_are_told_from_other_pauses() -> None:
    asked = {"kind": "budget", "message": "more?", "spent_usd": 2.0}
    found = questions([Interrupt({"awaited": []}, id="a"), Interrupt(asked, id="b"), Interrupt("text", id="c")])
    assert [(q.id, q.kind, q.spent_usd, q.experiments) for q in found] == [("b", "budget", 2.0, ())]


class Asking:
    """What a run's context says of a person who could allow more."""

    def __init__(self, approves: bool, can_allow: bool) -> None:
        self.approves, self.allow_usd = approves, (lambda usd: None) if can_allow else None


@pytest.mark.parametrize("approves", [True, False])
@pytest.mark.parametrize("can_allow", [True, False])
@pytest.mark.parametrize("limit", ["budget_usd", "hours", ""])
def test_a_person_who_approves_is_asked_for_more_dollars_and_for_nothing_else(
    limit: str, can_allow: bool, approves: bool
) -> None:
    context: Any = Asking(approves, can_allow)
    is_asked = asks_for_more(context, LimitReached("no more", limit))
    assert is_asked is (limit == "budget_usd" and approves and can_allow)
