"""The verified kernels of a run, and which of them is the best. Predicted and measured times are never compared.

Predicted times have no noise: the smaller one is faster. Measured levels decide where they lie far apart; where they do
not, the two kernels are timed in turns, and that decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agents.author import Member, Specimen
from graph.context import Context
from graph.evaluating import compare
from graph.pausing import together
from records.errors import LedgerError, Pending
from records.evaluation import Evaluation
from records.experiment import Attempt, Experiment
from records.ranking import by_level, mean_of


@dataclass(frozen=True)
class VerifiedKernel:
    """An accepted attempt with its evidence."""

    attempt: Attempt
    evaluation: Evaluation

    @property
    def time_us(self) -> float:
        """Weighted geometric mean of the benchmark times."""
        return self.evaluation.geomean_us or math.inf


def population(context: Context, before: int) -> list[VerifiedKernel]:
    """Accepted kernels of the generations below `before`, oldest first, timed the way the first seed was.

    The bound makes a replayed generation see what it saw the first time.
    """
    accepted = [a for a in context.ledger.attempts(context.run.id) if a.status == "accepted" and a.generation < before]
    return [VerifiedKernel(a, evidence(context, a)) for a in accepted if a.time_kind == accepted[0].time_kind]


def evidence(context: Context, attempt: Attempt) -> Evaluation:
    """The evaluation an attempt rests on; LedgerError when it is missing."""
    found = context.ledger.evaluation(attempt.evaluation_key)
    if found is None:
        raise LedgerError(f"the ledger has no evaluation for attempt {attempt.id}; restore it from a copy")
    return found


def best(context: Context, kernels: Sequence[VerifiedKernel]) -> VerifiedKernel:
    """The fastest of a population that is not empty; an earlier kernel gives way only to a clear gain.

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
    """True where the new kernel is faster; close measured times are decided by a comparison only."""
    decided = by_level(new.evaluation, old.evaluation)
    return decided if decided is not None else compare(context, new.attempt, old.attempt).verdict == "faster"


def roofline_fraction(evaluation: Evaluation) -> float:
    """Weighted geometric mean of the share of the speed of light; 0 where a roofline is unknown."""
    return mean_of(evaluation, "roofline_fraction") if evaluation.measurements else 0.0


def experiment_of(context: Context, experiment_id: str) -> Experiment:
    """An experiment of this run; LedgerError when it is missing."""
    for experiment in context.ledger.experiments(context.run.id):
        if experiment.id == experiment_id:
            return experiment
    raise LedgerError(f"the ledger has no experiment {experiment_id}; restore it from a copy")


def members(context: Context, kernels: Sequence[VerifiedKernel]) -> list[Member]:
    """The population as the selector sees it: ids, ancestry and times, no code."""
    titles = {e.id: e.title for e in context.ledger.experiments(context.run.id)}
    return [
        Member(
            id=k.attempt.id,
            parent_id=k.attempt.parent_id,
            title=titles[k.attempt.experiment_id],
            geomean_us=k.time_us,
            time_kind=k.attempt.time_kind or "",
            times_us=times_us(k.evaluation),
            strategy=k.attempt.strategy,
        )
        for k in kernels
    ]


def times_us(evaluation: Evaluation) -> dict[str, float]:
    """Benchmark times by case."""
    return {m.case: m.time_us for m in evaluation.measurements}


def specimen(context: Context, attempt_id: str) -> Specimen:
    """One kernel with its code, its evidence and its parent's times."""
    attempts = {a.id: a for a in context.ledger.attempts(context.run.id)}
    if attempt_id not in attempts:
        raise LedgerError(f"the ledger has no attempt {attempt_id}; restore it from a copy")
    attempt = attempts[attempt_id]
    parent = attempts.get(attempt.parent_id or "")
    return Specimen(
        attempt=attempt,
        experiment=experiment_of(context, attempt.experiment_id),
        source=context.artefacts.text(attempt.source),
        evaluation=evidence(context, attempt),
        parent_times_us=times_us(evidence(context, parent)) if parent else {},
    )
