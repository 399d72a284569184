"""What a tracing service is told of a question: the role as name, tags, and where in the run it was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.tracers.context import tracing_v2_enabled
from langsmith import Client
from pydantic import SecretStr

from agents.author import Step
from agents.model.conversation import Message
from agents.model.endpoint import Endpoint
from agents.model.gateway import Gateway
from agents.model.structured_output import Form
from records.artefacts import ArtefactStore
from records.experiment import Run
from records.ledger import Ledger
from tests.support.endpoint import ScriptedEndpoint


def test_a_traced_question_names_its_place_in_the_run_and_never_the_key(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.add_run(Run("run-1", "t", "mi300x", "lab", "llm", 1))
    with ScriptedEndpoint(["fine"]) as server, ScriptedEndpoint([]) as tracing:
        end = Endpoint(server.url, "m", SecretStr("sk-canary-77"))
        gate = Gateway(end, ledger, ArtefactStore(tmp_path / "a"))
        client = Client(api_url=tracing.url.removesuffix("/v1"), api_key="t", auto_batch_tracing=False)
        with tracing_v2_enabled(client=client):
            gate.ask("coder", Step("run-1", 3, "g003-e2", 1), (Message("user", "hello"),), Form(str.strip), "c0ffee")
        sent: list[dict[str, Any]] = [r.body for r in tracing.others if r.path.endswith("/runs")]
    run = sent[0]
    assert run["name"] == "coder"
    assert {"coder", "run:run-1", "generation:3"} <= set(run["tags"])
    metadata = run["extra"]["metadata"]
    assert {k: metadata[k] for k in ("run", "generation", "experiment", "node", "number", "candidate")} == {
        "run": "run-1",
        "generation": 3,
        "experiment": "g003-e2",
        "node": "coder",
        "number": 1,
        "candidate": "c0ffee",
    }
    assert "sk-canary-77" not in repr(tracing.others)
