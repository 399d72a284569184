"""One question on its way: parts take simpler forms, sizes are fitted, interfaces change, no request is repeated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.author import Step
from agents.model.conversation import Message, Spare
from agents.model.endpoint_memory import EndpointMemory
from agents.model.forms import MOST_STEPS, Forms
from agents.model.inquiry import ModelQuestion
from agents.model.provider import Provider
from benchmarks.faulty_endpoint import HttpReply, RoleRequest, responses
from benchmarks.model_fault_table import WINDOWS, windowed
from records.errors import ModelRefused
from tests.support.endpoint import Answer, Fault, ScriptedEndpoint
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
        said = refuses(RoleRequest("planner", "/chat/completions", body, {}, 1))
        return Fault(400, json.loads(said.body)["error"]["message"]) if isinstance(said, HttpReply) else Answer(GOOD)

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


def test_forms_that_a_memory_held_are_given_up_where_the_server_is_another_by_now(tmp_path: Path) -> None:
    memory = EndpointMemory(tmp_path / "endpoints.json")
    with ScriptedEndpoint([GOOD]) as server:
        gate = gateway(tmp_path, server.url)
        memory.remember(gate.endpoint.address, "m", Forms(wire=1))
        server.post = lambda path, body: {}  # type: ignore[method-assign]
        provider = Provider(gate.endpoint, Waits(), memory)
        reply = provider.ask(ModelQuestion("m", ASK, 100), {})
    assert reply.text == GOOD and memory.forms(gate.endpoint.address, "m") == Forms()


def test_a_size_that_was_misread_ends_no_run(tmp_path: Path) -> None:
    tiny = "the context window of 100 tokens is exceeded"
    with ScriptedEndpoint([Fault(400, tiny), GOOD, GOOD]) as server:
        gate = gateway(tmp_path, server.url, max_tokens=32000)
        assert ask(gate).value.many == 3
        assert server.requests[1].body["max_tokens"] < 32000
        ask(gate, Step("run-1", 2))
