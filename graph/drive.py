"""Start or resume a run: checkpoints, the run lock, and the status the run is left in."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot
from langsmith.utils import tracing_is_enabled

from graph.build import build_graph
from graph.context import Context
from graph.labels import NAME, metadata_of, tags_of
from graph.leaving import left
from graph.limiting import continued
from graph.pausing import Waiting, waiting
from graph.question import Question, questions
from graph.repairing import repair
from graph.state import SCHEMA_VERSION, Start, State
from records.errors import LedgerError
from records.experiment import Run
from records.seals import install, unsound

Progress = Callable[[Mapping[str, Any]], None]
Ask = Callable[[Question], Any]  # an answer, None for none
Saver = Callable[[sqlite3.Connection], SqliteSaver]
MOST_UNREAD = 5  # answers to a question that cannot be read, before the run pauses
Checkpoints = Callable[[], contextlib.AbstractContextManager[BaseCheckpointSaver[Any]]]


def drive(
    context: Context,
    checkpoint: Path | Checkpoints,
    progress: Progress = lambda _: None,
    max_concurrency: int | None = None,
    saver: Saver = SqliteSaver,
    ask: Ask = lambda _: None,
    trace_id: UUID | None = None,
) -> Run:
    """Run to the end, from the point where the run was left, and return it as stored in the ledger.

    A run that meets a limit is done with its best kernel, and goes on when it is resumed with more. An answer that is
    not there yet pauses the run and is no error. A stop, a machine at fault and a closed pipe of `progress` pause it
    too and are raised again; a request that cannot be is raised and leaves the run failed. A run that is done is
    returned untouched.
    A lost or damaged checkpoint is rebuilt: the graph starts over and finds all its results in the ledger.
    `checkpoint` is a file, or opens the checkpointer of a database.
    `progress` gets one event at a time, in the thread in which it happened; the node waits for it.
    `max_concurrency` bounds the threads for experiments; `saver` makes the checkpointer, for one that encrypts.
    `ask` answers the questions of a run that wants approval, in this thread; where it answers None, or five times what
    cannot be read, the run pauses.
    `trace_id` is the id of its trace, for feedback.
    """
    ledger, run_id = context.ledger, context.run.id
    ledger.add_run(context.run)
    with ledger.driving(run_id):
        if repaired := repair(context):
            progress({"event": "warning", "generation": 0, "message": repaired, "usd": ledger.paid_usd(run_id)})
        if ledger.run(run_id).status in ("done", "failed"):
            return ledger.run(run_id)
        ledger.finish(run_id, "running")
        begun = context.meter.driving()
        checkpointer = checkpoints(checkpoint, saver) if isinstance(checkpoint, Path) else checkpoint()
        with left(ledger, run_id), context.stop.working(), begun, checkpointer as opened:
            paused = step_through(context, opened, progress, max_concurrency, ask, trace_id)
            if isinstance(paused, Question):
                ledger.finish(run_id, "paused", paused.message, "approval")
            elif paused is not None:
                ledger.finish(run_id, "paused", paused.reason, "waiting")
        return ledger.run(run_id)


def step_through(
    context: Context,
    saver: BaseCheckpointSaver[Any],
    progress: Progress,
    max_concurrency: int | None = None,
    ask: Ask = lambda _: None,
    trace_id: UUID | None = None,
) -> Waiting | Question | None:
    """Stream the graph from its start or from its last checkpoint, each step written before the next begins.

    What it waits for is returned, None when it has ended. Starting it again runs the nodes that wait again.
    """
    graph = build_graph().compile(checkpointer=saver)
    config = run_config(context, trace_id)
    if max_concurrency:
        config["max_concurrency"] = max_concurrency + 1  # langgraph's reader of the stream holds one; with 1 it hangs
    state = _taken_up(graph, saver, config, context)
    # Not `state.next`: it leaves out tasks whose writes were saved just before the crash, so it can be empty too early.
    start: Start | Command[Any] | None = None if state.tasks else {"run_id": context.run.id}
    # Nothing is on the custom stream, because `reporting` has a `progress`. But without that mode a single node would
    # run in this thread, where Ctrl-C would cut off whatever it is at; the stop signal ends it in order.
    reporting, before = replace(context, progress=_one_by_one(progress)), dict[str, int]()
    while True:
        for _ in graph.stream(start, config, context=reporting, stream_mode="custom", durability="sync"):
            pass
        tasks = graph.get_state(config).tasks
        interrupts = [i for task in tasks for i in task.interrupts]
        node_of = {i.id: task.id for task in tasks for i in task.interrupts}
        open_questions = questions(interrupts)
        for q in (
            open_questions
        ):  # a question that is put again has another id, and that of a run that was left is asked anew
            before[node_of[q.id]] = min(q.unread, before.get(node_of[q.id], q.unread))
        readable = [q for q in open_questions if q.unread - before[node_of[q.id]] < MOST_UNREAD]
        answers = {question.id: answer for question in readable if (answer := ask(question)) is not None}
        if not answers:
            return open_questions[0] if open_questions else waiting(interrupts)
        start = Command(resume=answers)
        config.pop("run_id", None)  # of the first part's trace


def _taken_up(
    graph: CompiledStateGraph[State, Context, Start, State],
    saver: BaseCheckpointSaver[Any],
    config: RunnableConfig,
    context: Context,
) -> StateSnapshot:
    """Return the state of a run from which it goes on: with more generations, or behind the limit that it met."""
    state = graph.get_state(config)
    if state.values and state.values.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        saver.delete_thread(context.run.id)
        state = graph.get_state(config)
    ended = state.values.get("generation") if state.values.get("stop") else None
    if any(extension.after == ended for extension in context.run.extensions):
        graph.update_state(config, {"stop": "", "stagnant": 0}, as_node="reflect")  # as `reflect` would say it now
        state = graph.get_state(config)
    going_on = continued(state.values)
    if going_on is not None and not state.values["best_id"]:  # met among the seeds, which are in the ledger
        saver.delete_thread(context.run.id)
        state = graph.get_state(config)
    elif going_on is not None:
        graph.update_state(config, going_on[0], as_node=going_on[1])
        state = graph.get_state(config)
    return state


def _one_by_one(progress: Progress) -> Progress:
    """Return the callback for the threads of parallel experiments.

    They call it themselves: LangGraph's stream would wake two more threads for each event.
    """
    turn = threading.Lock()

    def tell(event: Mapping[str, Any]) -> None:
        with turn:
            progress(event)

    return tell


def run_config(context: Context, trace_id: UUID | None = None) -> RunnableConfig:
    """Thread, bounds, and the names a trace is found by; labels only for a trace, as every step would copy them."""
    run, limits = context.run, context.limits
    config: RunnableConfig = {
        "configurable": {"thread_id": run.id},
        "recursion_limit": most_steps(max([limits.generations, *(e.generations for e in run.extensions)])),
        "run_name": NAME,
    }
    if tracing_is_enabled():
        config["tags"] = tags_of(context)
        config["metadata"] = metadata_of(context)
    if trace_id is not None:
        config["run_id"] = trace_id
    return config


def most_steps(generations: int) -> int:
    """More steps than a run can take; its own counters stop it before this limit does."""
    return 10 + 6 * generations


@contextlib.contextmanager
def checkpoints(path: Path, saver: Saver = SqliteSaver) -> Iterator[SqliteSaver]:
    """Open a checkpointer on this file; a damaged file is put aside and started again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _open(path) or _open(path)
    except OSError as error:
        raise LedgerError(
            f"the checkpoint {path} cannot be written to ({error.strerror}); choose another run folder"
        ) from None
    if connection is None:
        raise LedgerError(f"the checkpoint {path} cannot be used; choose another run folder")
    try:
        yield saver(connection)
    except sqlite3.Error as error:
        raise LedgerError(
            f"the checkpoint {path} cannot be used ({error}); free some space or repair the folder, then resume the run"
        ) from None
    finally:
        connection.close()


def _open(path: Path) -> sqlite3.Connection | None:
    with path.open("ab"):
        pass
    connection = sqlite3.connect(path, check_same_thread=False, timeout=30.0)
    try:
        # Only a cursor: where a loss of power takes its last steps, the ledger, which waits for the disk, has them.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
            SqliteSaver(connection).setup()
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            install(connection, tables)
            connection.commit()
            if not any(unsound(connection, table) for table in tables):
                return connection
    except sqlite3.Error as error:
        if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.OperationalError):
            raise LedgerError(
                f"the checkpoint {path} cannot be used ({error}); "
                "free some space or repair the folder, then resume the run"
            ) from None
    connection.close()
    path.replace(path.with_name(path.name + ".damaged"))
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return None
