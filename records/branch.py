"""A run that branches off another one: it begins with the records that both share."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from records.experiment import Run
from records.ledger import Ledger


def branch(ledger: Ledger, run: Run, origin_id: str, upto: int, experiments: Set[str] = frozenset()) -> None:
    """Write a run down with the other's records of the generations up to this one, and of some experiments after it.

    Evaluations and comparisons belong to no run. Calls to the model stay with the run that paid for them. Once more
    changes nothing.
    """
    with ledger.together():
        ledger.add_run(run)
        for generation in range(upto + 1):
            shared = ledger.proposals(origin_id, generation)
            if shared:
                ledger.add_proposals(run.id, generation, [replace(p, run_id=run.id) for p in shared])
        for experiment in ledger.experiments(origin_id):
            if experiment.generation <= upto or experiment.id in experiments:
                ledger.add_experiment(replace(experiment, run_id=run.id))
        for attempt in ledger.attempts(origin_id):
            if attempt.generation <= upto or attempt.experiment_id in experiments:
                ledger.add_attempt(replace(attempt, run_id=run.id))
        ledger.copy_events(origin_id, run.id, upto)
