"""The page as a part of another server: relative addresses, its own headers, and what it never answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from tests.support.long_run import LongRun

pytest.importorskip("starlette")

from starlette.applications import Starlette
from starlette.routing import Mount

from app.mounted_page import page_app


def asked(
    app: Any, path: str, *, method: str = "GET", root_path: str = "", **headers: str
) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of one request, without a socket."""
    messages = list[dict[str, Any]]()

    async def send(message: Any) -> None:
        messages.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    texts = {"host": "server:2024", **{name.replace("_", "-"): text for name, text in headers.items()}}
    scope = {
        **{"type": "http", "http_version": "1.1", "scheme": "http", "server": ("server", 2024), "query_string": b""},
        **{"method": method, "path": path, "raw_path": path.encode(), "root_path": root_path},
        "headers": [(name.encode(), text.encode()) for name, text in texts.items()],
    }
    asyncio.run(app(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in messages[1:])
    return messages[0]["status"], {name.decode(): text.decode() for name, text in messages[0]["headers"]}, body.decode()


@pytest.fixture
def server(tmp_path: Path) -> Starlette:
    return Starlette(routes=[Mount("/scientist", page_app(Settings(runs_folder=tmp_path / "runs")))])


def test_it_opens_before_the_first_run_and_shows_it_afterwards(server: Starlette, tmp_path: Path) -> None:
    status, headers, body = asked(server, "/scientist/")
    assert (status, "content-security-policy" in headers) == (200, True)
    assert 'src="page.js"' in body and 'href="page.css"' in body
    assert json.loads(asked(server, "/scientist/api/runs")[2])["runs"] == []
    long_run = LongRun(tmp_path / "runs")
    long_run.write(10)
    long_run.ledger.close()
    (head,) = json.loads(asked(server, "/scientist/api/runs")[2])["runs"]
    book = json.loads(asked(server, f"/scientist/api/runs/{head['id']}")[2])
    assert book["head"] == head and book["changes"]


@pytest.mark.parametrize("root_path", ["", "/behind"])
def test_an_address_without_its_last_slash_leads_to_the_page(server: Starlette, root_path: str) -> None:
    status, headers, _ = asked(server, f"{root_path}/scientist", root_path=root_path)
    assert (status, headers["location"].endswith("/scientist/")) == (307, True)
    assert asked(server, f"{root_path}/scientist/page.css", root_path=root_path)[0] == 200


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {}, 405),
        ("DELETE", {}, 405),
        ("GET", {"origin": "http://evil.example"}, 403),
        ("GET", {"origin": "null"}, 403),
        ("GET", {"sec_fetch_site": "cross-site"}, 403),
        ("GET", {"sec_fetch_site": "same-site"}, 403),
        ("GET", {"origin": "http://server:2024", "sec_fetch_site": "same-origin"}, 200),
        ("GET", {"origin": "https://server:2024"}, 200),  # behind something that speaks TLS for it
    ],
)
def test_other_sites_and_other_methods_are_refused(
    server: Starlette, method: str, headers: dict[str, str], status: int
) -> None:
    assert asked(server, "/scientist/api/runs", method=method, **headers)[0] == status
