"""The graph for a server, in this process: real requests and records, a scripted author, a sandbox that is a table."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from agents.author import Assignment
from app.allowing import meter_of
from app.served_runs import ServedRuns
from app.settings import Settings
from app.wiring import limits_of
from graph.context import Context
from graph.doubles import ListedLiterature, ScriptedAuthor, table_task
from graph.serving import serve
from graph.table_sandbox import TableSandbox
from records.artefacts import ArtefactStore
from records.event_log import EventLog
from records.experiment import Run
from records.ledger import Ledger
from tests.support.scripted_run import SEED, Writer, faster, ideas

ASKED: dict[str, Any] = {"task": "row_softmax", "author": "playbook", "on": "lab", "limits": {"generations": 1}}


class Server:
    """The compiled graph with a checkpointer in memory, on the runs of a folder."""

    def __init__(self, folder: Path, writer: Writer = faster, settings: Settings | None = None) -> None:
        self.folder, self.writer = folder, writer
        self.settings = settings or Settings(runs_folder=folder / "runs")
        self.sandboxes: dict[str, TableSandbox] = {}
        self.allowed: list[float] = []
        self.saver = InMemorySaver()
        self._lock = threading.Lock()
        self.restart()

    def restart(self) -> None:
        """As a process that was killed and started again: only files and checkpoints are left."""
        self.service = ServedRuns(self.settings, self.open)
        self.graph = serve(self.service)
        self.graph.checkpointer = self.saver

    def open(self, settings: Settings, run: Run, ledger: Ledger, artefacts: ArtefactStore) -> Context:
        task = table_task(self.folder / f"task-{run.id}", SEED)
        with self._lock:
            sandbox = self.sandboxes.setdefault(run.id, TableSandbox())
        return Context(
            run=run,
            assignment=Assignment(task, "a GPU that is a table", "mi300x", "gfx942", run.seed),
            author=ScriptedAuthor(ideas, lambda step, base: self.writer(step, base)),
            sandbox=sandbox,
            literature=ListedLiterature("A passage."),
            ledger=ledger,
            artefacts=artefacts,
            limits=limits_of(run.config),
            approves=run.config.get("approves") is True,
            allow_usd=self.allowed.append,
            given_meter=meter_of(settings, run, ledger),
            listener=EventLog(settings.runs_folder / run.id, run.id, settings.secrets()),
        )

    def thread(self, name: str) -> Any:
        return {"configurable": {"thread_id": name}}

    def invoke(self, value: Any, name: str = "t", **more: Any) -> dict[str, Any]:
        return dict(self.graph.invoke(value, self.thread(name), **more))

    def ledger(self) -> Ledger:
        return Ledger(self.folder / "runs" / "ledger.db")

    def artefacts(self) -> ArtefactStore:
        return ArtefactStore(self.folder / "runs" / "artefacts", self.ledger())
