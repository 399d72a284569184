"""An endpoint that takes what it is sent and never answers: it holds no program at its end."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from pydantic import SecretStr

from agents.author import Draft
from app import trace_client
from app.session import Session
from app.settings import Settings
from app.tracing import tracing_here
from graph import Limits
from graph.doubles import ScriptedAuthor, table_context, table_task
from tests.support.few import few

INFO = {"version": "1", "instance_flags": {"zstd_compression_enabled": True}}


@contextmanager
def silent(answers_info: bool) -> Iterator[tuple[str, threading.Event]]:
    """An endpoint that says at most what it can do; the event is set when something was posted."""
    posted, stopped = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            if not answers_info or self.path != "/info":
                stopped.wait()
                return
            body = json.dumps(INFO).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            posted.set()
            stopped.wait()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", posted
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("answers_info", few([False, True], 2))
def test_no_thread_of_a_traced_block_holds_the_exit_and_the_loss_is_said(
    tmp_path: Path, answers_info: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trace_client.TraceClient.__mro__[1].__name__ == "Client"
    task = table_task(tmp_path / "task", "// time_us = 100\n// roofline_us = 5\n")
    with silent(answers_info) as (address, posted):
        options = Settings(
            _env_file=None,  # type: ignore[call-arg]
            runs_folder=tmp_path / "runs",
            tracing=True,
            langsmith_endpoint=address,
            langsmith_api_key=SecretStr("lsv2-canary-51d2c8e0aa47"),
        )
        with tracing_here(options):
            author = ScriptedAuthor(lambda generation: [], lambda step, base: Draft(""))
            context = table_context(tmp_path / "runs", task, author, Limits(generations=1))
            run_folder = tmp_path / "runs" / context.run.id
            run_folder.mkdir(parents=True)
            with Session(options, context, run_folder) as session:
                assert session.drive(lambda _: None).accepted == 1
            if answers_info:
                assert posted.wait(30)
        waited_for = [t.name for t in threading.enumerate() if not t.daemon and t is not threading.main_thread()]
    assert waited_for == []
    assert f"some traces did not reach {address} (" in capsys.readouterr().err
