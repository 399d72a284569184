"""Runs that go on beyond what they were begun with: with more generations, or from before one of them."""

from __future__ import annotations

import itertools
from dataclasses import replace

from app import wiring
from records.errors import UsageError
from records.experiment import Extension, Run
from records.ledger import Ledger


def extended(ledger: Ledger, run: Run, generations: int) -> Run:
    """Extend the run to this many generations in all, also where it was done; UsageError where it cannot go on."""
    if run.status == "failed":
        raise UsageError(f"the run {run.id} failed and cannot go on: {run.stop_reason}")
    with ledger.driving(run.id):
        begun = last_begun(ledger, run.id)
        total = run.generations_at(begun + 1, wiring.limits_of(run.config).generations)
        if generations <= begun:
            raise UsageError(
                f"the run {run.id} has begun generation {begun}; --generations is the new total, "
                f"give {begun + 1} or more"
            )
        if run.status == "done" or generations != total:
            ledger.extend(run.id, Extension(begun, generations))
    return ledger.run(run.id)


def branched(ledger: Ledger, origin: Run, before: int) -> Run:
    """Begin a run with the records of the generations before this one, under a name of its own; the origin stays."""
    names = {run.id for run in ledger.runs()}
    name = next(n for n in (f"{origin.id}-b{i}" for i in itertools.count(1)) if n not in names)
    plain = replace(origin, id=name, status="running", stop_reason="", pause="", extensions=())
    run = replace(plain, config={**origin.config, "forked_from": origin.id})
    with ledger.driving(origin.id):
        ledger.branch(run, origin.id, before - 1)
    return run


def last_begun(ledger: Ledger, run_id: str) -> int:
    """Find the last generation that a run began, as its diary says."""
    return max((int(e.payload["generation"] or 0) for e in ledger.events(run_id) if e.kind == "generation"), default=0)
