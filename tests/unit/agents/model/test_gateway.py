"""The gateway against a real local endpoint: what is read from a reply, what is stored, what it costs."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.author import Step
from agents.model.conversation import Message
from agents.model.endpoint import Price
from agents.model.gateway import Gateway
from agents.model.structured_output import Form, ReplyError, read_block
from records.errors import BudgetExhausted, MalformedReply, ModelError, TruncatedReply
from tests.support.endpoint import Answer, Fault, Page, ScriptedEndpoint
from tests.support.gateway import ASK, FORM, GOOD, STEP, Count, ask, gateway


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f'<think>perhaps {{"many": 1, "words": []}}?</think>{GOOD}',
        f"no opening tag here</think>\n{GOOD}",
        f"Sure, here it is: {GOOD} I hope that {{helps}}.",
        f'Draft: {{"many": 1, "words": []}}. On reflection: {GOOD}',
        f'{GOOD}\n{{"note": "an object that does not fit"}}',
    ],
)
def test_every_usable_reply_is_read(tmp_path: Path, text: str) -> None:
    with ScriptedEndpoint([text]) as server:
        reply = ask(gateway(tmp_path, server.url))
    assert reply.value == Count(many=3, words=["a", "}"])
    assert len(server.requests) == 1


def test_a_tool_call_instead_of_text_is_read(tmp_path: Path) -> None:
    with ScriptedEndpoint([Answer(None, "tool_calls", tool_calls=(("answer", json.loads(GOOD)),))]) as server:
        assert ask(gateway(tmp_path, server.url)).value.many == 3


@pytest.mark.parametrize(
    "text", ["", "I cannot do that.", '{"many": "x"}', GOOD[:-4], "<think>for ever", "nul \0 \ud800 end"]
)
def test_an_unusable_reply_gets_one_repair_turn_with_the_complaint(tmp_path: Path, text: str) -> None:
    with ScriptedEndpoint([text, GOOD]) as server:
        reply = ask(gateway(tmp_path, server.url))
    assert reply.value.many == 3
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (22, 14)
    turns = server.requests[1].body["messages"]
    assert [m["role"] for m in turns] == ["system", "user", "assistant", "user"]
    assert "cannot be used" in turns[-1]["content"]


def test_the_repair_turn_names_the_field(tmp_path: Path) -> None:
    with ScriptedEndpoint(['{"many": "x", "words": []}', GOOD]) as server:
        ask(gateway(tmp_path, server.url))
    assert "many:" in server.requests[1].body["messages"][-1]["content"]


def test_a_second_unusable_reply_is_an_error_and_nothing_more_is_asked(tmp_path: Path) -> None:
    with ScriptedEndpoint(["no", "still no", GOOD]) as server, pytest.raises(MalformedReply, match="planner's answer"):
        ask(gateway(tmp_path, server.url))
    assert len(server.requests) == 2


def test_a_stored_reply_is_returned_without_a_request(tmp_path: Path) -> None:
    with ScriptedEndpoint(["no json", GOOD]) as server:
        first = ask(gateway(tmp_path, server.url))
    with ScriptedEndpoint([]) as server:
        again = gateway(tmp_path, server.url)
        assert ask(again) == first
        assert server.requests == []
    assert again.ledger.spend("run-1").calls == 2
    assert again.ledger.spend("run-1").prompt_tokens == 22


def test_another_step_role_or_prompt_is_another_question(tmp_path: Path) -> None:
    with ScriptedEndpoint([GOOD] * 5) as server:
        gate = gateway(tmp_path, server.url)
        ask(gate)
        ask(gate, Step("run-1", 2))
        ask(gate, Step("run-1", 1, "g001-e1"))
        ask(gate, role="critic")
        gate.ask("planner", STEP, (*ASK[:1], Message("user", "How few?")), FORM)
    assert len(server.requests) == 5


def test_what_was_in_flight_at_a_kill_stays_spent_and_is_asked_again(tmp_path: Path) -> None:
    with ScriptedEndpoint([Fault(0)]) as server:  # the connection breaks behind the request
        gate = gateway(tmp_path, server.url, budget_usd=1.0, price=Price(1.0, 1.0), sleep=_killed)
        with pytest.raises(KeyboardInterrupt):
            ask(gate)
    lost, usd = gate.ledger.lost("run-1")
    assert lost == 1
    with ScriptedEndpoint([GOOD]) as server:
        again = gateway(tmp_path, server.url, budget_usd=1.0, price=Price(1.0, 1.0))
        used = ask(again).usage
    spend = again.ledger.spend("run-1")
    assert (spend.calls, spend.reserved_usd) == (2, 0.0)
    assert spend.usd == pytest.approx(usd + used.usd)


def _killed(seconds: float) -> None:
    raise KeyboardInterrupt


def test_cost_is_tokens_at_the_users_price(tmp_path: Path) -> None:
    counted = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
    with ScriptedEndpoint([Answer(GOOD, usage=counted)]) as server:
        gate = gateway(tmp_path, server.url, price=Price(2.0, 10.0))
        assert ask(gate).usage.usd == pytest.approx(0.004)
    assert gate.ledger.spend("run-1").usd == pytest.approx(0.004)


def test_a_cost_stated_by_the_server_counts_where_no_price_is_known(tmp_path: Path) -> None:
    stated = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "cost": 0.25}
    with ScriptedEndpoint([Answer(GOOD, usage=stated)]) as server:
        assert ask(gateway(tmp_path, server.url)).usage.usd == 0.25


def test_tokens_are_estimated_where_the_server_counts_none(tmp_path: Path) -> None:
    with ScriptedEndpoint([Answer(GOOD, usage=None)]) as server:
        usage = ask(gateway(tmp_path, server.url)).usage
    assert usage.completion_tokens == -(-len(GOOD) // 2)
    assert usage.prompt_tokens > 0


@pytest.mark.parametrize("budget_usd", [0.0, 0.001])
def test_a_call_that_could_break_the_budget_is_not_made(tmp_path: Path, budget_usd: float) -> None:
    with ScriptedEndpoint([GOOD]) as server:
        gate = gateway(tmp_path, server.url, budget_usd=budget_usd, price=Price(0.0, 1.0), max_tokens=10_001)
        with pytest.raises(BudgetExhausted):
            ask(gate)
    assert server.requests == []


def test_the_last_of_a_budget_is_asked_for_a_shorter_answer_and_never_for_one_that_was_cut(tmp_path: Path) -> None:
    with ScriptedEndpoint([GOOD, Answer("{", "length")]) as server:
        gate = gateway(tmp_path, server.url, budget_usd=0.005, price=Price(0.0, 1.0), max_tokens=10_000)
        ask(gate)
        with pytest.raises(BudgetExhausted):
            ask(gate, Step("run-1", 2))
    assert [r.body["max_tokens"] for r in server.requests] == [5000, 4993]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -5, "completion_tokens": -7, "total_tokens": -12},
        {"prompt_tokens": "many", "completion_tokens": [3], "total_tokens": None},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 1e400, "completion_tokens": True},
    ],
)
def test_a_count_that_cannot_be_is_replaced_by_ours(tmp_path: Path, usage: dict[str, Any]) -> None:
    with ScriptedEndpoint([Answer(GOOD, usage=usage)]) as server:
        gate = gateway(tmp_path, server.url, price=Price(1.0, 1.0))
        used = ask(gate).usage
    assert used.completion_tokens == -(-len(GOOD) // 2)
    assert used.prompt_tokens > len(ASK[0].content + ASK[1].content) // 2
    assert gate.ledger.spend("run-1").usd == pytest.approx(used.usd)
    assert used.usd > 0


def test_cached_and_reasoning_tokens_and_tiers_have_their_prices(tmp_path: Path) -> None:
    counted = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "total_tokens": 1300,  # 200 of reasoning that the server left out of the completion
        "prompt_tokens_details": {"cached_tokens": 800},
        "completion_tokens_details": {"reasoning_tokens": 200},
    }
    with ScriptedEndpoint([Answer(GOOD, usage=counted)]) as server:
        used = ask(gateway(tmp_path, server.url, price=Price(2.0, 10.0, cached_usd=0.2))).usage
    assert (used.prompt_tokens, used.completion_tokens) == (1000, 300)
    assert (used.cached_tokens, used.reasoning_tokens) == (800, 200)
    assert used.usd == pytest.approx((200 * 2.0 + 800 * 0.2 + 300 * 10.0) / 1e6)


def test_an_answer_that_may_have_been_billed_and_did_not_come_stays_spent(tmp_path: Path) -> None:
    with ScriptedEndpoint([Fault(0), Fault(500), GOOD]) as server:
        gate = gateway(tmp_path, server.url, price=Price(1.0, 1.0), max_tokens=1000)
        used = ask(gate).usage
    count, usd = gate.ledger.lost("run-1")
    assert count == 1
    assert usd > 1000 / 1e6
    assert gate.ledger.spend("run-1").usd == pytest.approx(usd + used.usd)


def test_a_page_in_place_of_an_answer_stays_spent_and_a_refusal_does_not(tmp_path: Path) -> None:
    with ScriptedEndpoint([Page("<html>"), Fault(401), Fault(503)]) as server:
        gate = gateway(tmp_path, server.url, price=Price(1.0, 1.0), retries=0)
        for generation in range(3):
            with pytest.raises(ModelError):
                ask(gate, Step("run-1", generation))
    assert gate.ledger.lost("run-1")[0] == 1
    assert gate.ledger.spend("run-1").reserved_usd == 0.0


def test_parallel_callers_never_pass_the_budget(tmp_path: Path) -> None:
    costly = Answer(GOOD, usage={"prompt_tokens": 0, "completion_tokens": 1000, "total_tokens": 1000}, delay_s=0.02)
    outcomes: list[str] = []

    def caller(number: int, gate: Gateway) -> None:
        try:
            ask(gate, Step("run-1", 1, f"e{number}"))
            outcomes.append("answered")
        except BudgetExhausted:
            outcomes.append("refused")

    with ScriptedEndpoint(lambda body: costly) as server:
        gate = gateway(tmp_path, server.url, budget_usd=5.5, price=Price(0.0, 1000.0), max_tokens=1000)
        threads = [threading.Thread(target=caller, args=(n, gate)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(outcomes) == ["answered"] * 5 + ["refused"] * 11
    assert len(server.requests) == 5
    assert gate.ledger.spend("run-1").usd == pytest.approx(5.0)


RECORDED = (
    'Here is the kernel.\n```hip\n/*+++\n[[launch]]\nkernel = "k"\n+++*/\n__global__ void k() {}\n```\n'
    '```json\n{"implemented": ["all"], "skipped": []}\n```\n'
)


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, len(RECORDED)))
def test_no_cut_point_of_a_recorded_reply_is_ever_accepted(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    form = Form(lambda text: read_block(text, ("hip",)))
    with ScriptedEndpoint([Answer(RECORDED[:cut], "length")] * 4) as server, pytest.raises(TruncatedReply):
        ask(gateway(tmp_path_factory.mktemp("cut"), server.url), form=form)


@pytest.mark.parametrize("cut", range(0, RECORDED.index("```\n```json") + 3, 5))
def test_an_unclosed_block_is_no_block_even_when_the_server_says_stop(cut: int) -> None:
    with pytest.raises(ReplyError):
        read_block(RECORDED[:cut], ("hip",))


def test_each_role_has_its_model_and_price(tmp_path: Path) -> None:
    with ScriptedEndpoint([GOOD, GOOD]) as server:
        gate = gateway(tmp_path, server.url, models={"coder": "big"}, prices={"big": Price(0.0, 1e6)})
        assert ask(gate).usage.usd == 0
        assert ask(gate, role="coder").usage.usd == 7
    assert [r.body["model"] for r in server.requests] == ["m", "big"]
