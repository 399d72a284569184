from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from records.errors import LedgerError
from records.ledger import Ledger
from tests.support.long_run import LongRun

pytest.importorskip("starlette")

from tests.support.page_server import TOKEN, Served, served

pytest_plugins = ["tests.support.page_fixtures"]
CANDIDATES = 40
COOKIE = "kernel_scientist_{port}=" + TOKEN


@contextlib.contextmanager
def fetch(page: Served, path: str, **headers: str) -> Iterator[http.client.HTTPResponse]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", page.port, timeout=60)) as connection:
        request_headers = {name.replace("_", "-"): text for name, text in headers.items()}
        connection.request("GET", path, headers={"Cookie": COOKIE.format(port=page.port), **request_headers})
        with connection.getresponse() as answer:
            yield answer


def json_of(page: Served, path: str) -> Any:
    with fetch(page, path) as answer:
        assert answer.headers["content-type"].startswith("application/json")
        return json.loads(answer.read())


def messages(answer: http.client.HTTPResponse, count: int) -> list[dict[str, str]]:
    """The next messages of a stream, without its comments."""
    received, now = list[dict[str, str]](), dict[str, str]()
    while len(received) < count:
        line = answer.readline().decode().rstrip("\n")
        assert line or now or answer.fp is not None, "the stream ended"
        if not line:
            received += [now] if "data" in now else []
            now = {}
        elif not line.startswith(":"):
            name, _, text = line.partition(": ")
            now[name] = text
    return received


def test_the_data_of_a_run_are_the_reader_s(page: Served, run: LongRun) -> None:
    (head,) = json_of(page, "/api/runs")["runs"]
    assert (head["id"], head["status"], head["candidates"]) == (run.run.id, "done", 40)
    book = json_of(page, f"/api/runs/{run.run.id}")
    assert book["head"] == head
    last = book["lines"][-1]["id"]
    sheet = json_of(page, f"/api/runs/{run.run.id}/candidates/{last}")
    assert sheet["id"] == last and "__global__" in sheet["source"]
    assert json_of(page, f"/api/runs/{run.run.id}/candidates/{last}/source") == sheet["source"]
    assert (
        json_of(page, f"/api/runs/{run.run.id}/candidates/{last}/machine")["kernels"]["row_softmax"][2]["text"]
        == "s_endpgm"
    )
    call = json_of(page, f"/api/runs/{run.run.id}/calls/0")
    assert (call["call"]["role"], "You are the planner" in call["prompt"]) == ("planner", True)


@pytest.mark.parametrize(
    "path",
    [
        "/api/runs/nothing",
        "/api/runs/2026",  # the beginning of an id is for the command line
        "/api/runs/{run}/candidates/g999-e9-a9",
        "/api/runs/{run}/candidates/%00",
        "/api/runs/{run}/candidates/x/machine",
        "/api/runs/{run}/candidates/x/source",
        "/api/runs/{run}/calls/100000",
        "/api/events?run=nothing",
    ],
)
def test_what_there_is_not_is_one_sentence(page: Served, run: LongRun, path: str) -> None:
    with fetch(page, path.replace("{run}", run.run.id)) as answer:
        assert answer.status == 404
        assert len(json.loads(answer.read())["error"].splitlines()) == 1


@pytest.mark.parametrize(
    "path",
    ["/static/page.css", "/../pyproject.toml", "/api/runs/..%2f..%2fetc", "/api", "/api/runs/{run}/calls/-1", "/docs"],
)
def test_there_are_no_other_addresses(page: Served, run: LongRun, path: str) -> None:
    with fetch(page, path.replace("{run}", run.run.id)) as answer:
        assert answer.status == 404


def test_a_stream_goes_on_after_the_row_that_was_read_last(page: Served, run: LongRun) -> None:
    row = json_of(page, f"/api/runs/{run.run.id}")["row"]
    events = run.ledger.events(run.run.id)
    with fetch(page, f"/api/events?run={run.run.id}&after={row - 3}") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        received = messages(answer, 4)
    assert [m.get("id") for m in received] == [str(e.number) for e in events[-3:]] + [None]
    assert [json.loads(m["data"])["kind"] for m in received[:3]] == [e.kind for e in events[-3:]]
    assert received[3]["event"] == "standing"
    with fetch(page, f"/api/events?run={run.run.id}&after=0", Last_Event_ID=str(row - 1)) as answer:
        assert [m.get("id") for m in messages(answer, 2)] == [str(row), None]


@pytest.mark.parametrize("after", ["-1", "x", "9" * 40, "1.5", "", "\u0661"])
def test_a_row_that_is_none_is_the_beginning(page: Served, run: LongRun, after: str) -> None:
    with fetch(page, f"/api/events?run={run.run.id}&after={quote(after)}") as answer:
        (first,) = messages(answer, 1)
    assert first["id"] == str(run.ledger.events(run.run.id)[0].number)


@pytest.mark.slow
def test_new_rows_and_a_new_status_arrive_while_the_stream_is_open(tmp_path: Path) -> None:
    long_run = LongRun(tmp_path)
    long_run.start(10)
    with served(tmp_path) as page:
        head = json_of(page, f"/api/runs/{long_run.run.id}")["head"]
        assert head["status"] == json_of(page, "/api/runs")["runs"][0]["status"] == "stopped"
        row = json_of(page, f"/api/runs/{long_run.run.id}")["row"]
        path = "/api/events?run={}&after={}"
        with fetch(page, path.format(long_run.run.id, row)) as answer, fetch(page, path.format("", row)) as all_runs:
            assert messages(answer, 1)[0]["event"] == messages(all_runs, 1)[0]["event"] == "standing"
            long_run.candidate(1, 1, 100.0)
            first = next(m for m in iter(lambda: messages(answer, 1)[0], {}) if "g001-e1-a0" in m["data"])
            assert (first["event"], json.loads(first["data"])["kind"]) == ("row", "attempt")
            assert messages(all_runs, 1)[0]["event"] == "runs"

            def standing() -> object:
                news = iter(lambda: messages(answer, 1)[0], {})
                return json.loads(next(m for m in news if m["event"] == "standing")["data"])

            with long_run.ledger.driving(long_run.run.id):
                assert standing() == [[long_run.run.id, "running", "", ""]]
                assert json_of(page, "/api/runs")["runs"][0]["status"] == "running"
            assert standing() == [[long_run.run.id, "stopped", "", ""]]
            long_run.ledger.finish(long_run.run.id, "paused", "the budget is used up", "budget")
            assert standing() == [[long_run.run.id, "paused", "budget", "the budget is used up"]]
    long_run.ledger.close()


def test_the_page_s_ledger_refuses_to_write(run: LongRun) -> None:
    with Ledger(run.folder / "ledger.db") as ledger:
        ledger.forbid_writing()
        before = run.ledger.last_event()
        with pytest.raises(LedgerError, match="cannot be written to"):
            ledger.event(run.run.id, "stage", {})
        with pytest.raises(LedgerError, match="cannot be written to"):
            ledger.finish(run.run.id, "failed")
        assert run.ledger.last_event() == before


def test_a_browser_that_asks_for_an_icon_is_told_that_there_is_none(page: Served) -> None:
    with fetch(page, "/favicon.ico") as answer:
        assert (answer.status, answer.read()) == (204, b"")
