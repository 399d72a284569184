"""A model's endpoint that is not there ends a new run before anything is judged, and holds up no run that knew it."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Any

import pytest

from app.model_reach import reach_model
from app.settings import Settings
from records.errors import ModelUnreachable
from records.experiment import ModelCall
from records.stopping import StopSignal
from tests.support.endpoint import ScriptedEndpoint


def settings(url: str) -> Settings:
    return Settings(_env_file=None, OPENAI_BASE_URL=url, OPENAI_MODEL="small")  # type: ignore[call-arg]


def dead_address() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def test_a_dead_endpoint_pauses_the_run_with_its_address(notebook: Any) -> None:
    run, address = replace(notebook.run, author="llm"), dead_address()
    with pytest.raises(ModelUnreachable, match=address):
        reach_model(settings(address), run, notebook.ledger, StopSignal())
    paused = notebook.ledger.run(run.id)
    assert (paused.status, paused.pause) == ("paused", "machine") and address in paused.stop_reason
    notebook.ledger.reserve(ModelCall("key", run.id, "planner", "small", "", "reserved", 0.0))
    reach_model(settings(address), run, notebook.ledger, StopSignal())  # it answered once: an outage is waited for


def test_one_that_is_there_is_asked_for_nothing_that_costs(notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedEndpoint([]) as server:
        reach_model(settings(server.url), replace(notebook.run, author="llm"), notebook.ledger, StopSignal())
        assert not server.requests
    reach_model(settings(dead_address()), notebook.run, notebook.ledger, StopSignal())  # the playbook asks nobody
