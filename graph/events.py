"""Progress as small dictionaries: streamed to the watcher, and written to the ledger once, also in a replay."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph.runtime import Runtime

from graph.context import Context
from graph.labels import label_candidate, label_step
from records.evaluation import Evaluation
from records.experiment import Attempt

Value = int | float | str | bool | None


# These report what begins. A record follows in the same node or experiment, whose commit brings them to the disk;
# where power is lost before it, the resumed run writes them again.
BEGINNINGS = frozenset({"generation", "stage"})


def emit(runtime: Runtime[Context], kind: str, key: str, **payload: Value) -> None:
    """Emit one event. `key` is unique in the run, so that a replay does not write it twice; spend is told only."""
    store(runtime.context, kind, key, payload)
    tell(runtime, kind, payload)


def begin_stage(runtime: Runtime[Context], generation: int, stage: str) -> None:
    """Tell that a stage of the whole run begins; those of its experiments are told by `graph/stage.py`."""
    emit(runtime, "stage", f"{generation}:{stage}", generation=generation, experiment="", stage=stage, number=0)


def store(context: Context, kind: str, key: str, payload: Mapping[str, Value]) -> None:
    """Store an event whose commit is that of other records: the first half of `emit`; it is told after the commit."""
    context.ledger.event(context.run.id, kind, payload, f"{kind}:{key}", is_synced=kind not in BEGINNINGS)


def record_attempt(
    runtime: Runtime[Context], attempt: Attempt, benchmark: Evaluation | None = None, ends_experiment: bool = False
) -> Attempt:
    """Append an attempt, its event and the benchmark that it ends with to the ledger in one commit, then report it.

    The stored attempt is returned, which is the first of its id.
    """
    payload: dict[str, Value] = {
        "generation": attempt.generation,
        "experiment": attempt.experiment_id,
        "attempt": attempt.id,
        "status": attempt.status,
        "geomean_us": attempt.geomean_us,
        "time_kind": attempt.time_kind,
        "code": attempt.code,
        "stage": attempt.stage,
        "reason": attempt.reason,
        "idea_pct": attempt.credit.idea_pct,
        "equal_pct": attempt.credit.equal_pct,
        "tuner_pct": attempt.credit.tuner_pct,
        "shown_pct": attempt.credit.shown_pct,
    }
    ledger = runtime.context.ledger
    with ledger.together():
        if benchmark is not None:
            ledger.add_evaluation(attempt.run_id, benchmark)
            ledger.unclaim(attempt.run_id, benchmark.key, "benchmark")
        stored = ledger.add_attempt(attempt)
        ledger.event(attempt.run_id, "attempt", payload, f"attempt:{attempt.id}")
    label_candidate(attempt, ends_experiment)
    tell(runtime, "attempt", payload)
    return stored


def tell(runtime: Runtime[Context], kind: str, payload: Mapping[str, Value]) -> None:
    """Tell an event, the second half of `emit`: whoever watches sees it and what the run has cost so far."""
    context = runtime.context
    write = context.progress or runtime.stream_writer
    event = {"event": kind, **payload, "usd": context.ledger.paid_usd(context.run.id)}
    if context.listener is not None:
        context.listener(event)
    write(event)


def annotate(runtime: Runtime[Context], **metadata: Value) -> None:
    """Add to the node's trace where tracing is on: the run, and which generation, experiment or candidate it is."""
    label_step(runtime.context, {"run": runtime.context.run.id, **metadata})
