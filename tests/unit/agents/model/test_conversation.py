"""Turns as they are stored, and answers that were cut off."""

from __future__ import annotations

import json

import pytest

from agents.model.conversation import Message, RawReply, Spare, ToolCall, transcribed
from records.experiment import Usage

CALL = ToolCall("c1", "check", "{}")


def reply(reason: str, text: str = "a", calls: tuple[ToolCall, ...] = ()) -> RawReply:
    return RawReply(text, reason, "m", Usage(3, 4, 0.5), calls=calls)


@pytest.mark.parametrize("reason", ["length", "MAX_TOKENS", "max_output_tokens", "incomplete: failed", "truncated"])
@pytest.mark.parametrize("text", ["a", ""])
def test_an_answer_at_a_limit_is_cut_whatever_it_says(reason: str, text: str) -> None:
    assert reply(reason, text).is_cut


@pytest.mark.parametrize("reason", ["content_filter", "aborted", "error", "SAFETY", "timeout", "time out"])
def test_an_answer_that_was_stopped_is_cut_where_something_was_said(reason: str) -> None:
    assert reply(reason).is_cut and reply(reason, "", (CALL,)).is_cut
    assert not reply(reason, "").is_cut and not reply(reason, " \n").is_cut


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "", "end_turn"])
def test_an_answer_that_ended_by_itself_is_whole(reason: str) -> None:
    assert not reply(reason).is_cut


def test_the_limit_of_an_answer_is_the_stored_one_or_what_was_asked_for() -> None:
    answer = reply("stop")
    assert answer.allowed(700) == 700
    assert RawReply("a", "stop", "m", Usage(3, 4, 0.5), limit=1).allowed(700) == 1


def test_an_answer_is_read_as_it_was_stored() -> None:
    answer = RawReply("ä", "stop", "m", Usage(3, 4, 0.5), False, (CALL,), "hm", 9, ("books",))
    assert RawReply.from_text(answer.to_text()) == answer


def test_a_conversation_is_stored_without_what_may_be_left_out() -> None:
    talk = (
        Message("system", "s"),
        Message("user", "ü", spare=(Spare("books", "b"),)),
        Message("assistant", "", (CALL,)),
        Message("tool", "t", call_id="c1"),
    )
    rows = [["system", "s"], ["user", "ü"], ["assistant", "", [["c1", "check", "{}"]]], ["tool", "t", "c1"]]
    assert json.loads(transcribed(talk)) == rows and "ü" in transcribed(talk)
