"""The gateway against a real local endpoint: ladder, retries, budget, resume, secrets."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from agents.author import Step
from agents.endpoint import Endpoint, Price
from agents.ladder import Form, ReplyError, json_form, read_block
from agents.model import Gateway, Reply
from agents.probe import probe
from agents.transport import Message
from records.artefacts import ArtefactStore
from records.errors import (
    BudgetExhausted,
    MalformedReply,
    ModelRefused,
    ModelUnreachable,
    SettingsError,
    TruncatedReply,
)
from records.experiment import Run
from records.ledger import Ledger
from tests.endpoint import Answer, Fault, Page, ScriptedEndpoint

KEY = "sk-canary-5f2c91"
STEP = Step("run-1", 1)
ASK = (Message("system", "You count."), Message("user", "How many?"))


class Count(BaseModel):
    many: int
    words: list[str]


FORM = json_form(Count, lambda c: c)
GOOD = '{"many": 3, "words": ["a", "}"]}'


class Waits(list[float]):
    """A clock that notes how long it was asked to sleep."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def gateway(folder: Path, url: str, budget_usd: float | None = None, sleep: Any = None, **options: Any) -> Gateway:
    ledger = Ledger(folder / "ledger.db")
    ledger.add_run(Run("run-1", "t", "mi300x", "lab", "llm", 1))
    usual = {"base_url": url, "model": "m", "api_key": SecretStr(KEY), "timeout_s": 5.0, "retries": 2}
    end = Endpoint(**usual | options)
    return Gateway(end, ledger, ArtefactStore(folder / "artefacts"), budget_usd, Waits() if sleep is None else sleep)


def ask(gate: Gateway, step: Step = STEP, form: Form[Any] = FORM, role: str = "planner") -> Reply[Any]:
    return gate.ask(role, step, ASK, form)


@pytest.mark.parametrize("text", [
    GOOD,
    f"```json\n{GOOD}\n```",
    f"<think>perhaps {{\"many\": 1, \"words\": []}}?</think>{GOOD}",
    f"no opening tag here</think>\n{GOOD}",
    f"Sure, here it is: {GOOD} I hope that {{helps}}.",
    f"Draft: {{\"many\": 1, \"words\": []}}. On reflection: {GOOD}",
    f"{GOOD}\n{{\"note\": \"an object that does not fit\"}}",
])
def test_every_usable_reply_is_read(tmp_path: Path, text: str) -> None:
    with ScriptedEndpoint([text]) as server:
        reply = ask(gateway(tmp_path, server.url))
    assert reply.value == Count(many=3, words=["a", "}"])
    assert len(server.requests) == 1


def test_a_tool_call_instead_of_text_is_read(tmp_path: Path) -> None:
    with ScriptedEndpoint([Answer(None, "tool_calls", tool_calls=(("answer", json.loads(GOOD)),))]) as server:
        assert ask(gateway(tmp_path, server.url)).value.many == 3


@pytest.mark.parametrize("text", [
    "", "I cannot do that.", '{"many": "x"}', GOOD[:-4], "<think>for ever", "nul \0 \ud800 end",
])
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


def test_an_html_page_is_refused_with_advice(tmp_path: Path) -> None:
    with ScriptedEndpoint([Page("<html>login</html>")]) as server, pytest.raises(ModelRefused, match="not a chat comp"):
        ask(gateway(tmp_path, server.url))
    assert len(server.requests) == 1


def test_broken_json_from_the_server_is_not_a_crash(tmp_path: Path) -> None:
    page = Page('{"choices": [', content_type="application/json")
    with ScriptedEndpoint([page]) as server, pytest.raises((ModelRefused, ModelUnreachable)):
        ask(gateway(tmp_path, server.url, retries=0))


def test_a_schema_is_sent_strict_and_complete(tmp_path: Path) -> None:
    with ScriptedEndpoint([GOOD]) as server:
        ask(gateway(tmp_path, server.url))
    body = server.requests[0].body
    asked = body["response_format"]["json_schema"]
    assert asked["strict"] is True
    assert asked["schema"]["required"] == ["many", "words"]
    assert asked["schema"]["additionalProperties"] is False
    assert body["max_tokens"] == 16384
    assert "temperature" not in body
    assert not body.get("stream")


def test_the_ladder_falls_where_the_server_refuses_and_stays_there(tmp_path: Path) -> None:
    seen: list[str] = []

    def old_server(body: dict[str, Any]) -> Answer | Fault:
        kind = (body.get("response_format") or {"type": "none"})
        seen.append(kind["type"] + (" strict" if kind.get("json_schema", {}).get("strict") else ""))
        return Fault(400, "response_format is not known here") if kind["type"] != "none" else Answer(GOOD)

    with ScriptedEndpoint(old_server) as server:
        gate = gateway(tmp_path, server.url)
        ask(gate)
        ask(gate, Step("run-1", 2))
    assert seen == ["json_schema strict", "json_schema", "json_object", "none", "none"]
    assert gate.ledger.spend("run-1").calls == 2


@pytest.mark.parametrize(("message", "field"), [
    ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_completion_tokens"),
    ("max_tokens: extra fields not permitted", "max_completion_tokens"),
])
def test_the_token_limits_name_follows_the_server(tmp_path: Path, message: str, field: str) -> None:
    with ScriptedEndpoint([Fault(400, message), GOOD]) as server:
        ask(gateway(tmp_path, server.url))
    assert field in server.requests[1].body


def test_a_refused_temperature_is_left_out(tmp_path: Path) -> None:
    with ScriptedEndpoint([Fault(400, "temperature is not supported"), GOOD]) as server:
        ask(gateway(tmp_path, server.url, temperature=0.7))
    assert server.requests[0].body["temperature"] == 0.7
    assert "temperature" not in server.requests[1].body


@pytest.mark.parametrize("fault", [Fault(429), Fault(500), Fault(503), Fault(529), Fault(0)])
def test_a_passing_fault_is_retried_the_configured_number_of_times(tmp_path: Path, fault: Fault) -> None:
    with ScriptedEndpoint([fault, fault, GOOD]) as server:
        waits = Waits()
        assert ask(gateway(tmp_path, server.url, sleep=waits)).value.many == 3
    assert len(server.requests) == 3
    assert len(waits) == 2
    assert all(w > 0 for w in waits)


def test_the_retries_end_and_the_reservation_is_given_back(tmp_path: Path) -> None:
    with ScriptedEndpoint([Fault(503)] * 9) as server:
        gate = gateway(tmp_path, server.url, budget_usd=1.0, price=Price(1.0, 1.0))
        with pytest.raises(ModelUnreachable, match="3 tries"):
            ask(gate)
    assert len(server.requests) == 3
    assert gate.ledger.spend("run-1").reserved_usd == 0


def test_a_timeout_is_retried_and_named(tmp_path: Path) -> None:
    slow = [Answer(GOOD, delay_s=0.6)] * 3
    with ScriptedEndpoint(slow) as server, pytest.raises(ModelUnreachable, match="timed out"):
        ask(gateway(tmp_path, server.url, timeout_s=0.1, retries=1))
    assert len(server.requests) == 2


def test_retry_after_is_honoured(tmp_path: Path) -> None:
    waits = Waits()
    with ScriptedEndpoint([Fault(429, headers={"Retry-After": "17"}), GOOD]) as server:
        ask(gateway(tmp_path, server.url, sleep=waits))
    assert waits == [17.0]


def test_a_very_long_retry_after_stops_the_run_at_once(tmp_path: Path) -> None:
    patient = Fault(429, headers={"Retry-After": "86400"})
    with ScriptedEndpoint([patient, GOOD]) as server, pytest.raises(ModelUnreachable, match="86400"):
        ask(gateway(tmp_path, server.url))


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_never_retried(tmp_path: Path, status: int) -> None:
    script = [Fault(status, f"bad key {KEY}"), GOOD]
    with ScriptedEndpoint(script) as server, pytest.raises(ModelRefused, match=str(status)) as caught:
        ask(gateway(tmp_path, server.url))
    assert len(server.requests) == 1
    assert server.url in str(caught.value)
    assert KEY not in str(caught.value)


def test_an_empty_account_is_not_retried(tmp_path: Path) -> None:
    script = [Fault(429, "insufficient_quota"), GOOD]
    with ScriptedEndpoint(script) as server, pytest.raises(ModelRefused, match="credit"):
        ask(gateway(tmp_path, server.url))
    assert len(server.requests) == 1


def test_a_dead_endpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnreachable, match=r"127\.0\.0\.1:9/v1"):
        ask(gateway(tmp_path, "http://127.0.0.1:9/v1"))


def test_the_key_is_sent_and_shown_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedEndpoint([Fault(401, f"no such key {KEY}")]) as server:
        gate = gateway(tmp_path, server.url)
        with pytest.raises(ModelRefused) as caught:
            ask(gate)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    error: BaseException | None = caught.value
    assert error is not None and error.__cause__ is None and error.__suppress_context__
    shown = repr(gate.endpoint) + str(gate.endpoint) + repr(caught.value) + caplog.text
    stored = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert KEY not in shown
    assert KEY.encode() not in stored


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


def test_what_is_left_reserved_by_a_kill_is_asked_again_and_counted_once(tmp_path: Path) -> None:
    gate = gateway(tmp_path, "http://127.0.0.1:9/v1", budget_usd=1.0, price=Price(1.0, 1.0), sleep=_killed)
    with pytest.raises(KeyboardInterrupt):
        ask(gate)
    assert gate.ledger.spend("run-1").reserved_usd > 0
    with ScriptedEndpoint([GOOD]) as server:
        again = gateway(tmp_path, server.url, budget_usd=1.0, price=Price(1.0, 1.0))
        ask(again)
    spend = again.ledger.spend("run-1")
    assert (spend.calls, spend.reserved_usd) == (1, 0.0)


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
    assert usage.completion_tokens == -(-len(GOOD) // 4)
    assert usage.prompt_tokens > 0


def test_a_call_that_could_break_the_budget_is_not_made(tmp_path: Path) -> None:
    with ScriptedEndpoint([GOOD]) as server:
        gate = gateway(tmp_path, server.url, budget_usd=0.01, price=Price(0.0, 1.0), max_tokens=10_001)
        with pytest.raises(BudgetExhausted):
            ask(gate)
    assert server.requests == []


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


def test_a_truncated_reply_is_asked_once_more_with_twice_the_tokens(tmp_path: Path) -> None:
    with ScriptedEndpoint([Answer(GOOD, "length"), GOOD]) as server:
        reply = ask(gateway(tmp_path, server.url, max_tokens=100))
    assert [r.body["max_tokens"] for r in server.requests] == [100, 200]
    assert reply.usage.completion_tokens == 14


def test_a_model_that_never_ends_costs_two_requests(tmp_path: Path) -> None:
    with ScriptedEndpoint([Answer(GOOD, "length")] * 5) as server, pytest.raises(TruncatedReply, match="cut off"):
        ask(gateway(tmp_path, server.url))
    assert len(server.requests) == 2
    assert server.requests[0].body["messages"] == server.requests[1].body["messages"]


RECORDED = ("Here is the kernel.\n```hip\n/*+++\n[[launch]]\nkernel = \"k\"\n+++*/\n__global__ void k() {}\n```\n"
            "```json\n{\"implemented\": [\"all\"], \"skipped\": []}\n```\n")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, len(RECORDED)))
def test_no_cut_point_of_a_recorded_reply_is_ever_accepted(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    form = Form(lambda text: read_block(text, ("hip",)))
    with ScriptedEndpoint([Answer(RECORDED[:cut], "length")] * 4) as server, pytest.raises(TruncatedReply):
        ask(gateway(tmp_path_factory.mktemp("cut"), server.url), form=form)


@pytest.mark.parametrize("cut", range(0, RECORDED.index("```\n```json") + 3, 5))
def test_an_unclosed_block_is_no_block_even_when_the_server_says_stop(cut: int) -> None:
    with pytest.raises(ReplyError):
        read_block(RECORDED[:cut], ("hip",))


@pytest.mark.parametrize("wrong", [
    {"base_url": "localhost:8000"}, {"model": " "}, {"models": {"writer": "m"}}, {"timeout_s": 0},
    {"base_url": "https://api.openai.com/v1", "api_key": SecretStr("")},
])
def test_an_endpoint_that_cannot_work_is_refused_in_words(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Endpoint(**{"base_url": "http://x/v1", "model": "m"} | wrong)


def test_an_address_shows_no_password() -> None:
    end = Endpoint("https://me:hidden@host:8443/v1/?token=hidden", "m")
    assert end.address == "https://host:8443/v1"


def test_each_role_has_its_model_and_price(tmp_path: Path) -> None:
    with ScriptedEndpoint([GOOD, GOOD]) as server:
        gate = gateway(tmp_path, server.url, models={"coder": "big"}, prices={"big": Price(0.0, 1e6)})
        assert ask(gate).usage.usd == 0
        assert ask(gate, role="coder").usage.usd == 7
    assert [r.body["model"] for r in server.requests] == ["m", "big"]


def test_the_probe_finds_what_an_endpoint_can_do() -> None:
    def picky(body: dict[str, Any]) -> Answer | Fault:
        kind = (body.get("response_format") or {}).get("type")
        return Fault(400, "json_schema is not supported") if kind == "json_schema" else Answer('{"answer": "pong"}')

    with ScriptedEndpoint(picky, models=("a", "b")) as server:
        found = probe(Endpoint(server.url, "a"), Waits())
    assert found.rungs == ("json_object", "text")
    assert found.models == ("a", "b")
    assert found.advice == ""


def test_the_probe_says_when_the_model_is_not_listed() -> None:
    with ScriptedEndpoint(lambda body: '{"answer": "pong"}', models=("a",)) as server:
        assert "does not list" in probe(Endpoint(server.url, "z"), Waits()).advice


def test_the_probe_names_a_dead_endpoint_and_a_bad_key() -> None:
    with pytest.raises(ModelUnreachable, match="nothing answers"):
        probe(Endpoint("http://127.0.0.1:9/v1", "m"), Waits())
    with ScriptedEndpoint(lambda body: Fault(401, "no")) as server, pytest.raises(ModelRefused, match="check the key"):
        probe(Endpoint(server.url, "m", SecretStr("wrong")), Waits())
