"""Prompts and answers fitted to a window: what goes, in which order, and when nothing helps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model.conversation import Message, Spare, ToolCall
from agents.model.prompt_fit import GONE, ModelSizes, fit, tokens_of

BOOKS, PEERS = "books " * 1000, "peers " * 1000
TASK = "the task " * 300
PROMPT = (
    Message("system", "You write."),
    Message("user", f"{TASK}{BOOKS}{PEERS}", spare=(Spare("books", BOOKS), Spare("peers", PEERS))),
)


def sizes(window: int | None = None, answer: int | None = None) -> ModelSizes:
    return ModelSizes(window, answer, 3.0)


def test_where_nothing_is_known_all_is_sent() -> None:
    fitted = fit(PROMPT, 0, 32000, sizes())
    assert fitted is not None and (fitted.talk, fitted.max_tokens, fitted.left_out) == (PROMPT, 32000, ())


def test_an_answer_is_no_longer_than_the_server_allows() -> None:
    fitted = fit(PROMPT, 0, 32000, sizes(answer=8192))
    assert fitted is not None and (fitted.max_tokens, fitted.left_out) == (8192, ())


def test_the_answer_is_made_shorter_before_a_part_is_left_out() -> None:
    fitted = fit(PROMPT, 0, 32000, sizes(12_000))
    assert fitted is not None and fitted.left_out == ()
    assert 4_000 < fitted.max_tokens < 8_000


def test_the_least_important_part_goes_first_and_the_prompt_says_so() -> None:
    fitted = fit(PROMPT, 0, 32000, sizes(6_000))
    assert fitted is not None and fitted.left_out == ("books",)
    said = fitted.talk[1].content
    assert "left out to fit the window: books" in said and BOOKS not in said and PEERS in said and TASK in said
    smaller = fit(PROMPT, 0, 32000, sizes(2_500))
    assert smaller is not None and smaller.left_out == ("books", "peers")


def test_old_results_go_before_parts_of_the_task() -> None:
    call = ToolCall("c", "check", "{}")
    turns = [
        m
        for n in range(6)
        for m in (Message("assistant", "", (call,)), Message("tool", f"result {n} " * 400, call_id="c"))
    ]
    fitted = fit((*PROMPT, *turns), 0, 32000, sizes(12_000))
    assert fitted is not None and fitted.left_out == ("results of earlier turns",)
    assert [m.content == GONE for m in fitted.talk if m.role == "tool"] == [True] * 4 + [False] * 2
    assert [m.calls for m in fitted.talk] == [m.calls for m in (*PROMPT, *turns)]


@pytest.mark.parametrize(("window", "least"), [(1000, 0), (6_000, 6_000), (300, 0)])
def test_where_no_answer_has_room_nothing_is_sent(window: int, least: int) -> None:
    assert fit(PROMPT, 0, 32000, sizes(window), least) is None


def test_an_answer_longer_than_the_last_is_refused_where_the_limit_is_reached() -> None:
    assert fit(PROMPT, 0, 64000, sizes(answer=8192), 8193) is None


@given(st.integers(1, 200_000), st.integers(1, 64_000), st.integers(0, 5_000), st.integers(0, 9_000))
def test_what_is_fitted_fits(window: int, wanted: int, extra: int, least: int) -> None:
    known = sizes(window)
    fitted = fit(PROMPT, extra, wanted, known, least)
    if fitted is not None:
        assert tokens_of(fitted.talk, extra, known) + fitted.max_tokens <= window
        assert min(wanted, least) <= fitted.max_tokens <= wanted
