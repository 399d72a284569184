"""Between the gateway and a real local endpoint: what is sent, retries, refusals, secrets, the probe."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agents.author import Step
from agents.model.chat_client import NO_CLIENT
from agents.model.endpoint import Endpoint, Price
from agents.model.probe import probe
from records.errors import ModelRefused, ModelUnreachable, SettingsError, TruncatedReply
from tests.support.endpoint import Answer, Fault, Page, ScriptedEndpoint
from tests.support.gateway import GOOD, KEY, Waits, ask, gateway


def test_an_html_page_is_refused_with_advice(tmp_path: Path) -> None:
    page = Page("<html>login</html>")
    with ScriptedEndpoint([page] * 9) as server, pytest.raises(ModelRefused, match="not a chat comp"):
        ask(gateway(tmp_path, server.url))
    assert len(server.requests) == 3  # it may be of a proxy, and pass


@pytest.mark.parametrize(
    "body",
    [
        "<html>502</html>",
        '{"choices": [], "usage": null}',
        '{"choices": [',
        "",
        "null",
        "[]",
        '{"error": {"message": "upstream failed"}}',
        '{"error": {"code": 503, "message": "busy"}}',
        'data: {"choices": [{"delta": {"content": "{"}}]}\n\n',
    ],
)
def test_what_is_no_answer_is_asked_again(tmp_path: Path, body: str) -> None:
    with ScriptedEndpoint([Page(body, content_type="application/json"), GOOD]) as server:
        assert ask(gateway(tmp_path, server.url)).value.many == 3
    assert len(server.requests) == 2


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


def test_no_client_is_made_for_the_way_of_asking_that_is_not_used(tmp_path: Path) -> None:
    client = gateway(tmp_path, "http://127.0.0.1:9/v1").provider.transport._client("m")
    assert client.root_client is client.root_async_client is client.client is NO_CLIENT


def test_the_json_mode_falls_where_the_server_refuses_and_stays_there(tmp_path: Path) -> None:
    seen: list[str] = []

    def old_server(body: dict[str, Any]) -> Answer | Fault:
        kind = body.get("response_format") or {"type": "none"}
        seen.append(kind["type"] + (" strict" if kind.get("json_schema", {}).get("strict") else ""))
        return Fault(400, "response_format is not known here") if kind["type"] != "none" else Answer(GOOD)

    with ScriptedEndpoint(old_server) as server:
        gate = gateway(tmp_path, server.url)
        ask(gate)
        ask(gate, Step("run-1", 2))
    assert seen == ["json_schema strict", "json_schema", "json_object", "none", "none"]
    assert gate.ledger.spend("run-1").calls == 2


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_completion_tokens"),
        ("max_tokens: extra fields not permitted", "max_completion_tokens"),
    ],
)
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


def test_one_try_is_told_in_the_singular(tmp_path: Path) -> None:
    with ScriptedEndpoint([Fault(503)]) as server, pytest.raises(ModelUnreachable, match="after 1 try "):
        ask(gateway(tmp_path, server.url, retries=0))


def test_a_timeout_is_retried_and_named(tmp_path: Path) -> None:
    slow = [Answer(GOOD, delay_s=0.6)] * 3
    with ScriptedEndpoint(slow) as server, pytest.raises(ModelUnreachable, match="timed out"):
        ask(gateway(tmp_path, server.url, timeout_s=0.1, retries=1))
    assert len(server.requests) == 2


def test_retry_after_is_honoured(tmp_path: Path) -> None:
    waits = Waits()
    with ScriptedEndpoint([Fault(429, headers={"Retry-After": "17"}), GOOD]) as server:
        ask(gateway(tmp_path, server.url, sleep=waits))
    assert len(waits) == 1 and 17.0 <= waits[0] <= 18.7


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


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "localhost:8000"},
        {"model": " "},
        {"models": {"writer": "m"}},
        {"timeout_s": 0},
        {"base_url": "https://api.openai.com/v1", "api_key": SecretStr("")},
    ],
)
def test_an_endpoint_that_cannot_work_is_refused_in_words(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Endpoint(**{"base_url": "http://x/v1", "model": "m"} | wrong)


def test_an_address_shows_no_password() -> None:
    end = Endpoint("https://me:hidden@host:8443/v1/?token=hidden", "m")
    assert end.address == "https://host:8443/v1"


def test_the_probe_finds_what_an_endpoint_can_do() -> None:
    def picky(body: dict[str, Any]) -> Answer | Fault:
        kind = (body.get("response_format") or {}).get("type")
        return Fault(400, "json_schema is not supported") if kind == "json_schema" else Answer('{"answer": "pong"}')

    with ScriptedEndpoint(picky, models=("a", "b")) as server:
        found = probe(Endpoint(server.url, "a"), Waits())
    assert found.json_modes == ("json_object", "text")
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
