from __future__ import annotations

import asyncio
from typing import Any

import pytest

from page.gate import POLICY, Gate

HOSTS = frozenset({"127.0.0.1:8410", "localhost:8410"})


async def inner(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


def call_gate(
    path: str = "/api/runs", query: str = "", method: str = "GET", gate: Gate | None = None, **headers: str
) -> tuple[int, dict[str, str], str]:
    """Status, headers and body; a header is named with `_` for `-`."""
    scope_headers = {"host": "127.0.0.1:8410", **{name.replace("_", "-"): text for name, text in headers.items()}}
    messages = list[dict[str, Any]]()

    async def send(message: Any) -> None:
        messages.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), text.encode("latin-1")) for name, text in scope_headers.items()],
    }
    asyncio.run((gate or Gate(inner, "right-token", HOSTS))(scope, receive, send))
    answer_headers = {name.decode(): text.decode() for name, text in messages[0]["headers"]}
    return messages[0]["status"], answer_headers, messages[1]["body"].decode()


COOKIE = "kernel_scientist_8410=right-token"


def test_the_token_opens_the_first_page_and_leaves_a_cookie_that_opens_the_rest() -> None:
    status, headers, body = call_gate("/", "token=right-token")
    assert (status, body) == (200, "inside")
    assert headers["set-cookie"] == f"{COOKIE}; Path=/; HttpOnly; SameSite=Strict"
    status, headers, body = call_gate(cookie=f"other=1; {COOKIE}")
    assert (status, body) == (200, "inside")
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    ("path", "query", "cookie"),
    [
        ("/", "", ""),
        ("/", "token=", ""),
        ("/", "token=wrong-token", ""),
        ("/", "token=right-toke", ""),
        ("/", "token=wrong&token=right-token", ""),
        ("/api/runs", "token=right-token", ""),
        ("/api/events", "", "kernel_scientist_8410=wrong"),
        ("/api/runs", "", "kernel_scientist_9999=right-token"),
        ("/page.js", "", "kernel_scientist_8410=; a b c=é;;; ="),
    ],
)
def test_without_the_token_nothing_is_shown(path: str, query: str, cookie: str) -> None:
    status, headers, body = call_gate(path, query, cookie=cookie)
    assert status == 401
    assert "inside" not in body and "kernel-scientist serve" in body
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8410", "127.0.0.1", "127.0.0.1:80", "", "127.0.0.1:8410.evil"]
)
def test_another_name_is_refused_even_with_the_token(host: str) -> None:
    assert call_gate(host=host, cookie=COOKIE)[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8410", "http://127.0.0.1:9999"])
def test_another_origin_is_refused_even_with_the_token(origin: str) -> None:
    assert call_gate(origin=origin, cookie=COOKIE)[0] == 403
    assert call_gate(origin="http://localhost:8410", cookie=COOKIE)[0] == 200


def test_a_request_that_another_site_caused_is_refused_but_for_the_first_page() -> None:
    for site in ("cross-site", "same-site"):
        assert call_gate(sec_fetch_site=site, cookie=COOKIE)[0] == 403
        assert call_gate("/", "token=right-token", sec_fetch_site=site)[0] == 200
    assert call_gate(sec_fetch_site="same-origin", cookie=COOKIE)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_nothing_can_be_sent(method: str) -> None:
    assert call_gate(method=method, cookie=COOKIE)[0] == 405


def test_every_answer_carries_the_policy_also_a_refusal() -> None:
    for _, headers, _ in (call_gate(cookie=COOKIE), call_gate(), call_gate(host="evil.example")):
        assert headers["content-security-policy"] == POLICY
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert headers["cache-control"] == "no-store"
    assert "unsafe" not in POLICY and "*" not in POLICY and "http" not in POLICY
