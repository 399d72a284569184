"""The verified kernels of a run, and which of them is the best. Predicted and measured times are never compared.

Predicted times have no noise: the smaller one is faster, where the clock's error does not cover the difference.
Measured levels decide where they lie far apart; where they do not, the two are timed in turns, and that decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agents.author import Specimen
from graph.context import Context
from graph.evaluating import compare
from graph.history import evidence, times_us
from graph.pausing import together
from records.errors import LedgerError, Pending
from records.evaluation import Evaluation
from records.experiment import Attempt, Experiment
from records.quantity import given
from records.ranking import by_level, mean_of


@dataclass(frozen=True)
class VerifiedKernel:
    """An accepted attempt with its evidence."""

    attempt: Attempt
    evaluation: Evaluation

    @property
    def time_us(self) -> float:
        """Weighted geometric mean of the benchmark times."""
        return given(self.evaluation.geomean_us, math.inf)


def kernel(context: Context, attempt_id: str) -> VerifiedKernel:
    """One accepted attempt of this run with its evidence; LedgerError when it is missing."""
    attempt = attempt_of(context, attempt_id)
    return VerifiedKernel(attempt, evidence(context.ledger, attempt))


def accepted_of(context: Context, generation: int, time_kind: str | None = None) -> list[VerifiedKernel]:
    """List the accepted kernels of one generation, oldest first, timed in this way, or as the first of them was."""
    accepted = [a for a in context.ledger.attempts(context.run.id, generation) if a.status == "accepted"]
    kind = time_kind or (accepted[0].time_kind if accepted else None)
    return [VerifiedKernel(a, evidence(context.ledger, a)) for a in accepted if a.time_kind == kind]


def best(context: Context, kernels: Sequence[VerifiedKernel]) -> VerifiedKernel:
    """Find the fastest of a population that is not empty; an earlier kernel gives way only to a clear gain.

    Where comparisons are not there yet, all that may be needed are asked for before Pending is raised.
    """
    leaders = [kernels[0]]  # more than one while it is not known which of them leads
    pendings: list[Pending] = []
    for kernel in kernels[1:]:
        answers: list[bool | None] = []
        for leader in leaders:
            try:
                answers.append(is_faster(context, kernel, leader))
            except Pending as pending:
                pendings.append(pending)
                answers.append(None)
        if all(answers):
            leaders, pendings = [kernel], []  # faster than each of them, whichever leads
        elif any(answer is not False for answer in answers):
            leaders.append(kernel)
    if pendings:
        raise together(pendings)
    return leaders[0]


def is_faster(context: Context, new: VerifiedKernel, old: VerifiedKernel) -> bool:
    """Tell whether the new kernel is faster; close measured times are decided by a comparison only."""
    decided = by_level(new.evaluation, old.evaluation)
    return decided if decided is not None else compare(context, new.attempt, old.attempt).verdict == "faster"


def roofline_fraction(evaluation: Evaluation) -> float:
    """Weighted geometric mean of the share of the speed of light; 0 where a roofline is unknown."""
    return mean_of(evaluation, "roofline_fraction") if evaluation.measurements else 0.0


def attainable_fraction(evaluation: Evaluation) -> float:
    """Compute the share of the speed that no kernel can exceed.

    The bound is the roofline's time and that of a launch, which none avoids.

    0 where a roofline is unknown. A measured time has no launch apart from the rest.
    """
    rows = evaluation.measurements
    if not rows or any(m.roofline_us <= 0 or m.time_us <= 0 for m in rows):
        return 0.0
    logs = [(math.log((m.roofline_us + m.resources_us.get("launch", 0.0)) / m.time_us), m.weight) for m in rows]
    return math.exp(sum(w * value for value, w in logs) / sum(w for _, w in logs))


def experiment_of(context: Context, experiment_id: str) -> Experiment:
    """Find an experiment of this run; LedgerError when it is missing."""
    experiment = context.ledger.experiment(context.run.id, experiment_id)
    if experiment is None:
        raise LedgerError(f"the ledger has no experiment {experiment_id}; restore it from a copy")
    return experiment


def attempt_of(context: Context, attempt_id: str) -> Attempt:
    """Find an attempt of this run; LedgerError when it is missing."""
    attempt = context.ledger.attempt(context.run.id, attempt_id)
    if attempt is None:
        raise LedgerError(f"the ledger has no attempt {attempt_id}; restore it from a copy")
    return attempt


def specimen(context: Context, attempt_id: str, generation: int) -> Specimen:
    """One kernel with its code, its evidence and its parent's times, as this generation sees it."""
    return context.specimens.get((generation, attempt_id), lambda: _specimen(context, attempt_id))


def _specimen(context: Context, attempt_id: str) -> Specimen:
    ledger, attempt = context.ledger, attempt_of(context, attempt_id)
    parent = ledger.attempt(context.run.id, attempt.parent_id) if attempt.parent_id else None
    return Specimen(
        attempt=attempt,
        experiment=experiment_of(context, attempt.experiment_id),
        source=context.artefacts.text(attempt.source),
        evaluation=evidence(ledger, attempt),
        parent_times_us=times_us(evidence(ledger, parent)) if parent else {},
    )
