"""Measured kernels of a run whose times the lab predicted as well: the two beside each other, case by case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from records.agreement import Pair
from records.evaluation import Evaluation
from records.experiment import Attempt, Run
from records.ledger import Ledger


def foretold(ledger: Ledger, run: Run, attempts: Sequence[Attempt]) -> tuple[Pair, ...]:
    """Pair the times of each case of each measured kernel that the ledger holds a prediction of, for the same GPU."""
    measured = (a for a in attempts if a.status == "accepted" and a.time_kind == "measured")
    return tuple(pair for attempt in measured for pair in _pairs(ledger, run, attempt))


def _pairs(ledger: Ledger, run: Run, attempt: Attempt) -> Iterator[Pair]:
    measured = ledger.evaluation(attempt.evaluation_key)
    alike = [e for e in ledger.estimates(attempt.candidate_id) if _is_prediction(e, run, attempt)]
    if measured is None or not alike:
        return
    predicted = {m.case: m for m in alike[-1].measurements}  # the newest, if an older lab predicted it, too
    for m in measured.measurements:
        prediction = predicted.get(m.case)
        if prediction is not None and m.time_us > 0 and prediction.time_us > 0:
            yield Pair(attempt.id, m.case, m.time_us, prediction.time_us, prediction.bound)


def _is_prediction(evaluation: Evaluation, run: Run, attempt: Attempt) -> bool:
    """Tell whether these are the lab's times of this kernel at these tunables; the cases say for which task."""
    return (
        evaluation.time_kind == "predicted"
        and dict(evaluation.tunables) == dict(attempt.tunables)
        and evaluation.measurements[0].device == f"lab:{run.target}"
    )
