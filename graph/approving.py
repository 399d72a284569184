"""The node that asks a person before the experiments of a generation."""

from __future__ import annotations

import itertools
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from graph.context import Context
from graph.events import begin_stage
from graph.population import experiment_of
from graph.question import approved_of
from graph.state import State
from records.quantity import counted


def approve(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have a person approve this generation's experiments: all, some or none of them."""
    context, generation = runtime.context, state["generation"]
    summaries = [_summary(context, pick["experiment_id"]) for pick in state["picks"]]
    begin_stage(runtime, generation, "approve")
    ids, complaint = [row["id"] for row in summaries], ""
    answers = f'answer true for all, false for none, or a list of ids such as ["{ids[0]}"]'
    would = f"generation {generation} would run {counted(len(ids), 'experiment')}"
    for unread in itertools.count():
        answer = interrupt(
            {
                "kind": "experiments",
                "generation": generation,
                "experiments": summaries,
                "spent_usd": context.ledger.paid_usd(context.run.id),
                "unread": unread,
                "message": f"{complaint}{would}; {answers}",
            }
        )
        approved = approved_of(answer, ids)
        if approved is not None:
            return {"picks": [p for p in state["picks"] if p["experiment_id"] in approved], "is_asked": False}
        complaint = "that answer cannot be read: "
    raise AssertionError("unreachable")


def _summary(context: Context, experiment_id: str) -> dict[str, Any]:
    experiment = experiment_of(context, experiment_id)
    return {
        "id": experiment.id,
        "title": experiment.title,
        "description": experiment.description,
        "parent": experiment.parent_id,
        "gain_min_pct": experiment.gain_min_pct,
        "gain_max_pct": experiment.gain_max_pct,
        "picked_as": experiment.picked_as,
    }
