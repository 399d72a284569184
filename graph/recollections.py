"""The part of a run that later runs are told of: its winner, the lessons that an ablation has shown, those it refuted.

It is gathered from the ledger alone when the run ends. Only verified kernels of experiments count; what is believed
without being shown stays with its run.
"""

from __future__ import annotations

from graph.context import Context
from records.experiment import Attempt
from records.memories import MemoryKind, Recollection, recollection_key

ABOUT = 2_000  # characters of a task's description that later tasks are compared with


def gather(context: Context, leader: Attempt) -> list[Recollection]:
    """List the recollections of this run, its winner first where an experiment has won."""
    accepted = [a for a in context.ledger.attempts(context.run.id) if a.status == "accepted" and a.generation]
    winner = [_recollection(context, "winner", leader)] if leader.generation else []
    return [*winner, *(r for attempt in accepted for r in _findings(context, attempt))]


def _findings(context: Context, attempt: Attempt) -> list[Recollection]:
    if not attempt.lesson or not attempt.parent_id:
        return []
    parent = context.ledger.attempt(context.run.id, attempt.parent_id)
    beside = parent.candidate_id if parent else ""
    if attempt.standing == "shown":
        return [_recollection(context, "lesson", attempt, beside)]
    return [_recollection(context, "refuted", attempt, beside)] if attempt.standing == "refuted" else []


def _recollection(context: Context, kind: MemoryKind, attempt: Attempt, *beside: str) -> Recollection:
    task, run = context.assignment.task, context.run
    candidates = (attempt.candidate_id, *beside)
    return Recollection(
        key=recollection_key(kind, task.digest, run.target, attempt.time_kind or "", *candidates),
        kind=kind,
        run_id=run.id,
        attempt_id=attempt.id,
        task=task.name,
        task_digest=task.digest,
        target=run.target,
        about=f"{task.title}. {task.description}"[:ABOUT],
        at=run.created_at,
    )
