"""Progress as small dictionaries: streamed to the watcher, and written to the ledger once, also in a replay."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langsmith.run_helpers import get_current_run_tree

from graph.context import Context
from records.experiment import Attempt

Value = int | float | str | bool | None


def emit(runtime: Runtime[Context], kind: str, key: str, **payload: Value) -> None:
    """Emit one event. `key` is unique in the run, so that a replay does not write it twice; spend is streamed only."""
    context = runtime.context
    context.ledger.event(context.run.id, kind, payload, key=f"{kind}:{key}")
    runtime.stream_writer({"event": kind, **payload, "usd": context.ledger.spend(context.run.id).usd})


def tell_attempt(runtime: Runtime[Context], attempt: Attempt) -> None:
    """Emit the event of an attempt that has been recorded."""
    emit(
        runtime,
        "attempt",
        attempt.id,
        generation=attempt.generation,
        experiment=attempt.experiment_id,
        attempt=attempt.id,
        status=attempt.status,
        geomean_us=attempt.geomean_us,
        time_kind=attempt.time_kind,
        code=attempt.code,
        stage=attempt.stage,
        reason=attempt.reason,
    )


def annotate(runtime: Runtime[Context], **metadata: Value) -> None:
    """Add to the node's trace where tracing is on: the run, and which generation, experiment or candidate it is."""
    tree = get_current_run_tree()
    if tree is not None:
        tree.add_metadata({"run": runtime.context.run.id, **metadata})
