from typing import Any

import pytest

from app.approval import experiments_answer

IDS = ["g001-e1", "g001-e2", "g001-e3"]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("y\n", True), ("yes", True), ("n", False), ("None", False), ("2", ["g001-e2"]), ("3, 1", ["g001-e3", "g001-e1"])],
)
def test_a_line_is_an_answer(reply: str, answer: Any) -> None:
    assert experiments_answer(reply, IDS) == answer


def test_a_pause_is_no_answer_and_an_unreadable_line_is_asked_for_again() -> None:
    assert experiments_answer("p", IDS) is None
    assert [experiments_answer(reply, IDS) for reply in ("", "4", "0", "-1", "maybe", "1 x")] == [...] * 6
