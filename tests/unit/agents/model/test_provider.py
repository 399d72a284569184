"""The policy of an endpoint: what is adapted, fitted, waited for, handed on, done without, and refused."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agents.author import Step
from agents.model.endpoint import Price
from agents.model.gateway import Gateway
from agents.model.structured_output import Form
from records.allowance import Allowance
from records.errors import LimitReached, ModelDeclined, ModelRefused, ModelUnreachable, TruncatedReply, Unanswered
from records.run_meter import RunMeter
from tests.support.endpoint import Answer, Fault, Page, ScriptedEndpoint
from tests.support.gateway import ASK, GOOD, Waits, ask, gateway

VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens "
    "and your request has 9000 input tokens (32000 > 32768 - 9000)."
)


@pytest.mark.parametrize(
    ("message", "thinking"),
    [
        ({"content": None, "reasoning_content": GOOD}, GOOD),
        ({"content": "", "reasoning": GOOD}, GOOD),
        ({"content": f"<think>{GOOD}</think>"}, ""),
        ({"content": GOOD, "reasoning_content": "let me count"}, "let me count"),
        ({"content": f"<think>let me count</think>{GOOD}"}, "let me count"),
        (
            {"content": [{"type": "thinking", "thinking": "let me count"}, {"type": "text", "text": GOOD}]},
            "let me count",
        ),
    ],
)
def test_thoughts_are_kept_apart_and_are_the_answer_where_there_is_no_other(
    tmp_path: Path, message: dict[str, Any], thinking: str
) -> None:
    document = {"choices": [{"message": message, "finish_reason": "stop"}]}
    with ScriptedEndpoint([Page(json.dumps(document), content_type="application/json")]) as server:
        gate = gateway(tmp_path, server.url)
        reply = gate.turn("coder", Step("run-1", 1), ASK, ())
    assert (reply.text, reply.thinking) == (GOOD, thinking)


def test_an_endpoint_that_answered_is_waited_for_with_patience(tmp_path: Path) -> None:
    waits = Waits()
    with ScriptedEndpoint([GOOD, *[Fault(503)] * 40, GOOD]) as server:
        gate = gateway(tmp_path, server.url, sleep=waits, patience_s=6 * 3600.0)
        ask(gate)
        assert ask(gate, Step("run-1", 2)).value.many == 3
    assert len(server.requests) == 42 and max(waits) <= 60.0 and len(set(waits)) == 40


def test_patience_ends(tmp_path: Path) -> None:
    waits = Waits()
    with ScriptedEndpoint([GOOD, *[Fault(503)] * 99]) as server:
        gate = gateway(tmp_path, server.url, sleep=waits, patience_s=600.0)
        ask(gate)
        with pytest.raises(ModelUnreachable):
            ask(gate, Step("run-1", 2))
    assert 540.0 <= sum(waits) <= 660.0


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_of_what_was_taken_before_is_asked_again_twice(tmp_path: Path, status: int) -> None:
    with ScriptedEndpoint([GOOD, Fault(status), GOOD, *[Fault(status)] * 9]) as server:
        gate = gateway(tmp_path, server.url)
        ask(gate)
        ask(gate, Step("run-1", 2))
        with pytest.raises(ModelRefused, match=str(status)):
            ask(gate, Step("run-1", 3))
    assert len(server.requests) == 6


def test_time_outs_end_after_a_few_tries(tmp_path: Path) -> None:
    with ScriptedEndpoint(lambda body: Answer(GOOD, delay_s=0.3)) as server:
        gate = gateway(tmp_path, server.url, timeout_s=0.05, retries=99)
        with pytest.raises(ModelUnreachable, match="timed out") as caught:
            ask(gate)
    assert len(server.requests) == 6 and caught.value.lost == 6


@pytest.mark.parametrize("answer", [Answer(GOOD, delay_s=8.0), Fault(429, headers={"retry-after": "9999"})])
def test_a_call_and_a_wait_end_with_the_time_of_their_run(tmp_path: Path, answer: Answer | Fault) -> None:
    waits = list[float]()
    with ScriptedEndpoint(lambda body: answer) as server:
        plain = gateway(tmp_path, server.url, timeout_s=60.0)
        limits = Allowance(max_wall_seconds=1.0)
        meter = RunMeter(plain.ledger, "run-1", limits, False, lambda: time.monotonic() + sum(waits))
        gate = Gateway(plain.endpoint, plain.ledger, plain.artefacts, sleep=waits.append, meter=meter)
        with meter.driving(), pytest.raises(LimitReached):
            ask(gate)
    assert len(server.requests) == 1 and sum(waits) < 10


def test_what_was_lost_is_told_before_it_is_asked_again(tmp_path: Path) -> None:
    with ScriptedEndpoint([Page("{}"), Fault(503), Page("{}"), Fault(504), GOOD]) as server:
        gate = gateway(tmp_path, server.url, 1.0, retries=9, price=Price(1.0, 1.0), max_tokens=1000)
        ask(gate)
    spend = gate.ledger.spend("run-1")
    assert spend.usd > 3 * 1000e-6 and spend.reserved_usd == 0  # three answers may be billed


def test_the_next_model_of_the_list_is_asked_and_priced(tmp_path: Path) -> None:
    def server_of(body: dict[str, Any]) -> Answer | Fault:
        return Answer(GOOD) if body["model"] == "spare" else Fault(404, "the model was retired")

    with ScriptedEndpoint(server_of) as server:
        gate = gateway(tmp_path, server.url, fallbacks=("gone", "spare"), prices={"spare": Price(0.0, 1e6)})
        assert ask(gate).usage.usd == 7
        assert [r.body["model"] for r in server.requests] == ["m", "gone", "spare"]
        ask(gate, Step("run-1", 2))
        assert server.requests[3].body["model"] == "spare"  # the others are known to be gone
    assert [(c.model, c.state) for c in gate.ledger.calls("run-1")] == [("spare", "done")] * 2


def test_a_wrong_key_asks_no_other_model(tmp_path: Path) -> None:
    with ScriptedEndpoint(lambda body: Fault(401)) as server:
        with pytest.raises(ModelRefused, match="check the key"):
            ask(gateway(tmp_path, server.url, fallbacks=("spare",)))
        assert len(server.requests) == 1


@pytest.mark.parametrize("role", ["selector", "retriever", "critic"])
@pytest.mark.parametrize("fault", [Fault(401), Fault(503), Fault(400, VLLM), Page("<html>")])
def test_a_role_that_can_be_done_without_has_no_answer_twice_alike(
    tmp_path: Path, role: str, fault: Fault | Page
) -> None:
    with ScriptedEndpoint(lambda body: fault) as server:
        with pytest.raises(Unanswered):
            ask(gateway(tmp_path, server.url), role=role)
        asked = len(server.requests)
    with ScriptedEndpoint(lambda body: GOOD) as healthy:  # a resumed run goes by the rule again
        gate = gateway(tmp_path, healthy.url)
        with pytest.raises(Unanswered):
            ask(gate, role=role)
        assert asked and not healthy.requests
    assert gate.ledger.spend("run-1").usd == gate.ledger.spend("run-1").reserved_usd == 0


def test_a_role_that_decides_is_never_done_without(tmp_path: Path) -> None:
    for role in ("planner", "coder"):
        with ScriptedEndpoint(lambda body: Fault(401)) as server, pytest.raises(ModelRefused):
            ask(gateway(tmp_path / role, server.url), role=role)


def test_a_prompt_that_a_filter_refuses_concerns_no_other(tmp_path: Path) -> None:
    with ScriptedEndpoint([Fault(400, "content_filter: flagged"), GOOD]) as server:
        gate = gateway(tmp_path, server.url)
        with pytest.raises(ModelDeclined):
            ask(gate)
        ask(gate, Step("run-1", 2))
    assert len(server.requests) == 2


@pytest.mark.parametrize("reason", ["content_filter", "error", "abort", "model_length", "SAFETY"])
def test_an_answer_that_ended_early_is_none(tmp_path: Path, reason: str) -> None:
    with ScriptedEndpoint([Answer("half of a kernel", reason)] * 4) as server, pytest.raises(TruncatedReply):
        ask(gateway(tmp_path, server.url), form=Form(str))
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -5, "completion_tokens": -7},
        {"prompt_tokens": "many", "completion_tokens": None},
        {"prompt_tokens": True, "completion_tokens": [7]},
        {"prompt_tokens": 1e300, "completion_tokens": 10**400},
        {"prompt_tokens": 11, "completion_tokens": 7, "cost": -1e9},
        "free",
    ],
)
def test_counts_that_are_none_are_estimated(tmp_path: Path, usage: Any) -> None:
    document = {"choices": [{"message": {"content": GOOD}}], "usage": usage}
    with ScriptedEndpoint([Page(json.dumps(document), content_type="application/json")]) as server:
        used = ask(gateway(tmp_path, server.url, price=Price(1.0, 1.0))).usage
    assert 0 < used.prompt_tokens < 10_000 and 0 < used.completion_tokens < 1_000 and 0 < used.usd < 0.1


def test_a_stream_that_nobody_asked_for_is_read(tmp_path: Path) -> None:
    halves = GOOD[:9], GOOD[9:]
    events = [{"choices": [{"delta": {"content": half}}]} for half in halves]
    events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    text = "".join(f"data: {json.dumps(e)}\n\n" for e in events) + "data: [DONE]\n\n"
    with ScriptedEndpoint([Page(text, content_type="text/event-stream")]) as server:
        assert ask(gateway(tmp_path, server.url)).value.many == 3


def test_requests_a_minute_are_kept(tmp_path: Path) -> None:
    waits = Waits()
    with ScriptedEndpoint([GOOD] * 3) as server:
        gate = gateway(tmp_path, server.url, sleep=waits, requests_per_minute=1)
        for generation in (1, 2, 3):
            ask(gate, Step("run-1", generation))
    assert [round(w / 60) for w in waits] == [1, 2]


@pytest.mark.parametrize(
    ("fault", "is_waited"),
    [
        (Fault(429, "You exceeded your current quota. Please retry in 34s."), True),
        (Fault(429, "You exceeded your current quota, please check your plan"), False),
        (Fault(402, "try again in 1s"), False),
    ],
)
def test_a_quota_passes_where_the_server_names_a_wait(tmp_path: Path, fault: Fault, is_waited: bool) -> None:
    waits = Waits()
    with ScriptedEndpoint([fault, GOOD]) as server:
        try:
            ask(gateway(tmp_path, server.url, sleep=waits))
        except ModelRefused as error:
            assert "credit" in str(error)
    assert [w >= 34 for w in waits] == [True] * is_waited


def test_no_wait_for_ever_is_not_asked_for_without_pause(tmp_path: Path) -> None:
    waits = Waits()
    with ScriptedEndpoint([*[Fault(429, headers={"Retry-After": "0"})] * 30, GOOD]) as server:
        ask(gateway(tmp_path, server.url, sleep=waits))
    assert len(waits) == 30 and sum(waits) > 600
