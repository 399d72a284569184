"""Repair of a run's records before it goes on: what can be computed again is, and what cannot stops the run."""

from __future__ import annotations

from collections.abc import Sequence

from graph.context import Context
from graph.evaluating import evaluate, prepared_again
from records.errors import DamagedRecord
from records.quantity import counted
from records.soundness import DamagedRow
from sandbox.walk import needs_confirmation


def repair(context: Context) -> str:
    """Repair what is damaged; return a sentence on what was made again, empty where all was sound.

    It raises DamagedRecord where a row cannot be made again.
    """
    ledger, run_id = context.ledger, context.run.id
    rows: Sequence[DamagedRow] = ledger.damaged(run_id)
    if lost := [row for row in rows if not row.is_made_again]:
        raise DamagedRecord(_way_out(context, lost))
    if not rows:
        return ""
    ledger.put_aside(rows)
    touched = frozenset(key for row in rows if row.may_confirm for key in row.keys)
    rejudged = sum(_judged_again(context, attempt.id, touched) for attempt in ledger.attempts(run_id))
    tables = ", ".join(sorted({row.table for row in rows}))
    message = f"{counted(len(rows), 'record')} of {tables} had been changed on the disk and were put aside; "
    message += f"{counted(rejudged, 'verdict')} made again" if rejudged else "what of it is needed is made again"
    ledger.event(run_id, "warning", {"generation": 0, "message": message})
    return message


def _judged_again(context: Context, attempt_id: str, touched: frozenset[str]) -> bool:
    """Judge an accepted kernel again whose verdict is missing, or whose confirmation may be; True where it was."""
    ledger = context.ledger
    attempt = ledger.attempt(context.run.id, attempt_id)
    if attempt is None or attempt.status != "accepted" or not attempt.evaluation_key:
        return False
    earlier = ledger.evaluation(attempt.evaluation_key, "benchmark")
    if earlier is not None and attempt.evaluation_key not in touched:
        return False
    prepared = prepared_again(context, attempt)
    evaluation = earlier or ledger.add_evaluation(context.run.id, evaluate(context, "benchmark", prepared))
    if attempt.evaluation_key in touched and needs_confirmation(evaluation):
        evaluate(context, "confirm", prepared)
    return True


def _way_out(context: Context, lost: list[DamagedRow]) -> str:
    first = lost[0]
    message = f"the record {first.name} ({first.table}) of run {context.run.id} was changed on the disk"
    message += f", and {counted(len(lost) - 1, 'other')} with it" if len(lost) > 1 else ""
    generations = [row.generation for row in lost if row.generation is not None and row.table != "runs"]
    if generations and len(generations) == len(lost) and min(generations) > 0:
        before = min(generations)
        return f"{message}; go on from before it with `kernel-scientist resume {context.run.id} --before {before}`"
    return f"{message}; restore {context.ledger.engine.place} from a copy, or start a new run"
