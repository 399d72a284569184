"""Runs for a server, named by langgraph.json: made of plain data, opened by their ids, several at once.

A server's process holds each run it works on by the ledger's lock, so that no other process drives it meanwhile.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from app import wiring
from app.asked_in_words import EXAMPLE, request_in_words
from app.program.author_command import refuse_served_program
from app.run_request import RunRequest, keep_request, new_run
from app.screen import note
from app.served_answer import answer_of
from app.served_request import FIXED, digest_of, plain, request_fields, request_of, request_text
from app.served_run import ServedRun
from app.session import Session
from app.settings import Settings, load_settings
from app.span_export import SpanExport, refuse_missing
from app.task_folders import open_sound_task, open_task
from app.tracing import Traces
from app.user_text import KINDS as TEXT_FIELDS
from app.user_text import task_of_text, user_text_of
from graph.context import Context
from graph.leaving import left
from graph.question import questions
from graph.serving import FOLLOWS, ServedState, serve
from records.artefacts import ArtefactStore
from records.computed_once import computed_once
from records.errors import SettingsError, UsageError
from records.experiment import Run
from records.ledger import Ledger
from records.stopping import StopSignal

Opening = Callable[[Settings, Run, Ledger, ArtefactStore], Context]
KEPT = 32  # runs whose collaborators stay open


class ServedRuns:
    """The service of `graph.serving`: settings are read and files opened when the first run is."""

    def __init__(self, settings: Settings | None = None, opening: Opening = wiring.make_context) -> None:
        """Without settings, those of the environment; `opening` makes the collaborators of a run."""
        self._given, self._opening = settings, opening
        self.traces: Traces | None = None
        self._lock = threading.RLock()
        self._opened: dict[str, ServedRun] = {}
        self._export: SpanExport | None = None

    @computed_once
    def settings(self) -> Settings:
        """Read once."""
        return self._given or load_settings()

    @computed_once
    def _records(self) -> tuple[Ledger, ArtefactStore]:
        records = wiring.open_records(self.settings, create=True)
        if self.traces is not None:
            self.traces.view.attach(*records)
        return records

    def begin(self, fields: Mapping[str, Any], begun_at: str) -> dict[str, Any]:
        """Write the run down, or find the one begun at this place; its id and the whole request."""
        fields = self._with_words(fields)
        request = request_of(self._with_task(fields))
        refuse_missing(self.settings)
        refuse_served_program(self.settings, request.author or "")
        with self._lock:
            run = self._begun_at(begun_at) or self._new(request, begun_at)
        used = {name: kinds[0]() for name, kinds in TEXT_FIELDS.items() if fields.get(name)}  # once, on a thread
        return {"run_id": run.id, **json.loads(str(run.config["asked"])), **used}

    @contextlib.contextmanager
    def working(self, run_id: str, stop: StopSignal) -> Iterator[Context]:
        """Give the collaborators of a run, which no other process drives meanwhile; note how a fault leaves the run.

        `stop` stops the run while the block is at work.
        """
        from langgraph.errors import GraphInterrupt

        ledger = self._records[0]
        with self._claimed(run_id) as run, left(ledger, run_id), run.taking_calls(), stop.reaching(run.context.stop):
            run.context.stop.check()
            if ledger.run(run_id).status == "paused":
                ledger.finish(run_id, "running")
            try:
                yield run.context
                run.context.stop.check()  # the ledger has what was done, and a resumed run finds it there
            except GraphInterrupt as pause:
                posed = questions(pause.args[0])
                kind = ("approval", posed[0].message) if posed else ("waiting", "waiting for results from elsewhere")
                ledger.finish(run_id, "paused", kind[1], "approval" if posed else "waiting")
                raise

    def lineage(self, state: ServedState, node: str, generation: int) -> str:
        """Return the run's id, or that of a new one where a person changed the request or what the node follows from.

        What a node followed from is noted the first time. A node that runs again from the same state, after a crash or
        from an old checkpoint, finds its answers in the ledger; from another state it needs a run of its own.
        """
        run = self._run(state["run_id"])
        followed = {name: state.get(name) for name in FOLLOWS.get(node, ())}
        request = plain(request_fields(state))
        if request == run.config.get("asked"):
            if node not in FOLLOWS or self._is_noted(run, node, generation, digest_of(followed)):
                return run.id
            if run.status in ("done", "failed"):
                raise UsageError(
                    f"the run {run.id} is {run.status}: {run.stop_reason}; to go on from here, "
                    "update the state with other limits, or give a new input"
                )
        return self._forked(run, state, node, generation, digest_of([request, followed]))

    def conclude(self, run_id: str, stop: StopSignal) -> dict[str, Any]:
        """Write the best kernel and the report; the fields of the output, the answer in words among them."""
        from langsmith.run_helpers import get_current_run_tree

        with self.working(run_id, stop) as context:
            folder = wiring.make_folder(self.settings, context.run)
            result = Session(self.settings, context, folder).conclude()
            step = get_current_run_tree()
            if self.traces is not None and step is not None:
                self.traces.score_now(step.trace_id, result.scores(context), note)
        with self._lock:
            if (ended := self._opened.pop(run_id, None)) is not None:
                ended.end()
        return answer_of(self.settings, context, result)

    def close(self) -> None:
        """Send the spans that are left, those of runs in the middle too; a collector that is not there costs 2 s."""
        with self._lock:
            for run in self._opened.values():
                run.end()
            if self._export is not None:
                self._export.close()

    def _with_words(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Put what the messages ask for since the last result in place of a task or source that was named before."""
        typed = {name: value for name, value in fields.items() if name != "messages"}
        words = request_in_words(self.settings, fields.get("messages") or ())
        if "task" in words or "source" in words:
            earlier = ("task", "source", "language", "function", "reference")
            typed = {name: value for name, value in typed.items() if name not in earlier}
        elif not typed.get("task") and not typed.get("source") and fields.get("messages"):
            raise UsageError(EXAMPLE)
        return {**typed, **words}

    def _with_task(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make the task of what is brought as text, in place of a name; the same text has the same task again."""
        if not fields.get("source"):
            return {name: value for name, value in fields.items() if name not in TEXT_FIELDS}
        prepared = task_of_text(self.settings, user_text_of({n: v for n, v in fields.items() if n in TEXT_FIELDS}))
        return {**{n: v for n, v in fields.items() if n not in TEXT_FIELDS}, "task": prepared.task}

    def _begun_at(self, begun_at: str) -> Run | None:
        """Find the run that a request at this place of a thread began: the node that began it may run again."""
        runs = (run for run in self._records[0].runs() if begun_at and run.config.get("begun_at") == begun_at)
        return next(runs, None)

    def _new(self, request: RunRequest, begun_at: str) -> Run:
        from sandbox.target import load_target

        ledger, artefacts = self._records
        task = open_sound_task(self.settings, request.task, load_target(request.target).name)
        new_run(self.settings, request, task)  # which refuses a bad request before anything is written
        draft = new_run(self.settings, request, task, keep_request(self.settings, request, task, (ledger, artefacts)))
        run = replace(draft, config={**draft.config, "asked": request_text(draft, request), "begun_at": begun_at})
        ledger.add_run(run)
        return run

    def _forked(self, origin: Run, state: ServedState, node: str, generation: int, change: str) -> str:
        """Fork a run with what `origin` knew before this node, and with the changed request; return its id."""
        name = f"{origin.id}-{digest_of([node, generation, change])[:6]}"
        request, before = request_of(request_fields(state)), json.loads(str(origin.config.get("asked", "{}")))
        changed = [field for field in FIXED if getattr(request, field) != before.get(field)]
        if changed:
            raise UsageError(
                f"a fork keeps {', '.join(FIXED)}, and {changed[0]} was changed; give a new input for another"
            )
        task = open_task(self.settings, request.task, request.target)
        draft = new_run(self.settings, request, task)
        config = {**origin.config, "approves": request.approves, **draft.config, "asked": request_text(draft, request)}
        run = replace(draft, id=name, created_at=origin.created_at, config={**config, "forked_from": origin.id})
        picks = frozenset(pick["experiment_id"] for pick in state.get("picks", ()))
        shared = picks if node in ("approve", "reflect") else frozenset[str]()
        self._records[0].branch(run, origin.id, generation - 1, shared)
        self._is_noted(run, node, generation, digest_of({field: state.get(field) for field in FOLLOWS.get(node, ())}))
        return name

    def _is_noted(self, run: Run, node: str, generation: int, digest: str) -> bool:
        """Note what a node follows from; False where it followed from something else, or where the run has ended."""
        ledger, name = self._records[0], f"{node}:{generation}"
        noted = [e.payload["digest"] for e in ledger.events(run.id) if e.kind == "step" and e.payload["node"] == name]
        if noted:
            return noted[0] == digest
        if run.status in ("done", "failed"):
            return False
        ledger.event(run.id, "step", {"node": name, "digest": digest}, f"step:{name}")
        return True

    def _run(self, run_id: str) -> Run:
        return self._records[0].run(run_id)

    @contextlib.contextmanager
    def _claimed(self, run_id: str) -> Iterator[ServedRun]:
        """Hold the run for one node."""
        with self._lock:
            run = self._opened.get(run_id) or self._open(run_id)
            run.hold()
        has_failed = True
        try:
            yield run
            has_failed = False
        finally:
            with self._lock:
                run.release(has_failed)

    def _open(self, run_id: str) -> ServedRun:
        run = self._run(run_id)
        context = self._opening(self.settings, run, *self._records)
        if self.settings.telemetry and self._export is None:
            self._export = SpanExport(self.settings, is_told_at_once=True)
        spans = self._export.spans(run_id) if self._export is not None else None
        served = ServedRun(context, spans, self.traces.take if self.traces is not None else None)
        for old in [name for name, other in self._opened.items() if other.is_idle][: -KEPT + 1]:
            self._opened.pop(old).end()
        self._opened[run_id] = served
        return served


def guard_traces(service: ServedRuns) -> Traces | None:
    """Have a server's traces go through our view, where its environment asks for traces; None where it does not.

    A setting that is not usable is told when the first run needs it.
    """
    from langsmith.run_trees import configure

    with contextlib.suppress(SettingsError):
        if service.settings.tracing:
            traces = Traces(service.settings)
            configure(client=traces.client, project_name=service.settings.langsmith_project)
            return traces
    return None


_DESK = ServedRuns()
_DESK.traces = guard_traces(_DESK)
atexit.register(_DESK.close)
graph = serve(_DESK)  # for langgraph.json; nothing is opened before the first run
