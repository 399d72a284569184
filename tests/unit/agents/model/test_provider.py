"""The policy of an endpoint: what is adapted, fitted, waited for, handed on, done without, and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.author import Step
from agents.model.conversation import Message, Spare
from agents.model.endpoint import Price
from agents.model.forms import MOST_STEPS
from agents.model.structured_output import Form
from benchmarks.faulty_endpoint import Asked, Told, responses
from benchmarks.model_fault_table import WINDOWS, windowed
from records.errors import ModelDeclined, ModelRefused, ModelUnreachable, TruncatedReply, Unanswered
from tests.support.endpoint import Answer, Fault, Page, ScriptedEndpoint
from tests.support.gateway import ASK, FORM, GOOD, Waits, ask, gateway

VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens "
    "and your request has 9000 input tokens (32000 > 32768 - 9000)."
)


def test_a_refusal_that_never_changes_costs_three_requests(tmp_path: Path) -> None:
    with ScriptedEndpoint(lambda body: Fault(400, VLLM)) as server:
        with pytest.raises(ModelRefused, match="maximum context length"):
            ask(gateway(tmp_path, server.url, max_tokens=32000))
        limits = [r.body["max_tokens"] for r in server.requests]
    assert len(limits) == 3 and limits == sorted(limits, reverse=True) and limits[0] > limits[2]


@pytest.mark.parametrize("words", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("window", [3000, 6144, 16384])
def test_prompt_and_answer_are_fitted_to_the_window(tmp_path: Path, words: str, window: int) -> None:
    books = "a passage of some book. " * 400
    talk = (*ASK[:1], Message("user", f"How many?\n{books}", spare=(Spare("books", books),)))
    refuses = windowed(words, window)

    def server_of(body: dict[str, Any]) -> Answer | Fault:
        said = refuses(Asked("planner", "/chat/completions", body, {}, 1))
        return Fault(400, json.loads(said.body)["error"]["message"]) if isinstance(said, Told) else Answer(GOOD)

    told = list[str]()
    with ScriptedEndpoint(server_of) as server:
        gate = gateway(tmp_path, server.url, max_tokens=32000)
        gate.provider._tell = told.append
        assert gate.ask("planner", Step("run-1", 1), talk, FORM).value.many == 3
        first = len(server.requests)
        gate.ask("planner", Step("run-1", 2), talk, FORM)
        again = len(server.requests) - first
    assert first <= 3 and again == 1  # what was learnt is kept
    left_out = "left out to fit the window: books" in server.requests[-1].body["messages"][1]["content"]
    assert left_out is bool(told)
    assert left_out is (window == 3000)


def test_no_form_is_ever_sent_twice(tmp_path: Path) -> None:
    """A server that refuses whatever it is sent, by the name of any part of it."""
    parts = ("v1/responses", "reasoning_effort", "temperature", "system role", "response_format", "max_tokens unknown")
    bodies = list[str]()

    def server_of(body: dict[str, Any]) -> Fault:
        bodies.append(json.dumps(body))
        return Fault(400, f"{', '.join(parts)} is not supported")

    with ScriptedEndpoint(server_of) as server, pytest.raises(ModelRefused):
        ask(gateway(tmp_path, server.url, temperature=0.5, effort="low"))
    assert len(set(bodies)) == len(bodies) <= MOST_STEPS + 1


@pytest.mark.parametrize(
    ("fault", "has"),
    [
        (Fault(400, "System role not supported"), lambda body: "system" in {m["role"] for m in body["messages"]}),
        (Fault(400, "Unsupported parameter: 'reasoning_effort'"), lambda body: "reasoning_effort" in body),
        (Fault(422, "extra fields not permitted: response_format"), lambda body: "response_format" in body),
    ],
)
def test_a_refused_part_takes_its_simpler_form_and_keeps_it(
    tmp_path: Path, fault: Fault, has: Callable[[dict[str, Any]], bool]
) -> None:
    with ScriptedEndpoint(lambda body: fault if has(body) else Answer(GOOD)) as server:
        gate = gateway(tmp_path, server.url, effort="low")
        ask(gate)
        taken = len(server.requests)
        ask(gate, Step("run-1", 2))
        assert not has(server.requests[-1].body) and len(server.requests) == taken + 1
        assert "You count." in json.dumps(server.requests[-1].body["messages"])


class OnlyResponses(ScriptedEndpoint):
    """A server without chat completions."""

    def __init__(self, refusal: Fault) -> None:
        super().__init__(lambda body: refusal)
        self.asked: list[dict[str, Any]] = []

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        if not path.endswith("/responses"):
            return None
        self.asked.append(body)
        return responses(GOOD)


@pytest.mark.parametrize(
    "refusal",
    [
        Fault(404, "This model is only supported in v1/responses and not in v1/chat/completions."),
        Fault(404, "Not Found"),
        Fault(405, ""),
    ],
)
def test_a_model_of_the_responses_interface_alone_is_asked_there(tmp_path: Path, refusal: Fault) -> None:
    with OnlyResponses(refusal) as server:
        gate = gateway(tmp_path, server.url, max_tokens=500)
        assert ask(gate).value.many == 3
        ask(gate, Step("run-1", 2))
    assert (len(server.requests), len(server.asked)) == (1, 2)
    body = server.asked[0]
    assert (body["max_output_tokens"], body["store"], body["text"]["format"]["strict"]) == (500, False, True)
    assert [item["role"] for item in body["input"]] == ["system", "user"]


def test_where_both_interfaces_refuse_the_first_ones_words_are_told(tmp_path: Path) -> None:
    with ScriptedEndpoint(lambda body: Fault(404, "nothing is here")) as server:
        with pytest.raises(ModelRefused, match="nothing is here"):
            ask(gateway(tmp_path, server.url))
        assert (len(server.requests), len(server.others)) == (1, 1)


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


def test_what_was_lost_is_told_before_it_is_asked_again(tmp_path: Path) -> None:
    from agents.model.inquiry import ModelQuestion

    lost = list[int]()
    with ScriptedEndpoint([Page("{}"), Fault(503), Page("{}"), GOOD]) as server:
        provider = gateway(tmp_path, server.url, retries=9).provider
        provider.ask(ModelQuestion("m", ASK, 100), {}, lambda: lost.append(len(server.requests)))
    assert lost == [1, 3]


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
