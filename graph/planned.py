"""Decisions of a generation that the ledger already has: a run that goes on takes them from there and asks nobody."""

from __future__ import annotations

from typing import Any

from graph.context import Context
from graph.state import Pick
from records.experiment import Experiment


def known_selection(context: Context, generation: int) -> dict[str, Any] | None:
    """Return base and reference of a generation that was selected before; None for a new one."""
    event = context.ledger.event_of(context.run.id, f"selected:{generation}")
    if event is None:
        return None
    base, reference = event.payload["base"], event.payload["reference"]
    is_there = all(
        context.ledger.attempt(context.run.id, str(name)) is not None for name in (base, reference) if name is not None
    )
    return {"base_id": base, "reference_id": reference} if is_there else None


def known_picks(context: Context, generation: int) -> list[Pick]:
    """List the experiments of a generation that was planned before; none for a new one, or one that planned nothing."""
    if context.ledger.event_of(context.run.id, f"planned:{generation}") is None:
        return []
    experiments = context.ledger.experiments(context.run.id, generation)
    return [pick_of(e) for e in sorted(experiments, key=lambda e: e.slot) if e.picked_as != "dispatch"]


def pick_of(experiment: Experiment) -> Pick:
    """Return the start of one experiment."""
    pick: Pick = {"experiment_id": experiment.id, "move": experiment.move}
    return {**pick, "explores": True} if experiment.explores else pick
