"""Where the main graph goes on: to experiments, to a person, to reflection, round again or to its end."""

from __future__ import annotations

from typing import Literal

from langgraph.types import Send

from graph.state import State


def fan_out(state: State) -> list[Send] | Literal["approve", "reflect"]:
    """Start an experiment for each pick, after a person's approval where one is wanted.

    Beside them the leader's confirmation. Without picks reflection follows, because an empty list would end the run.
    """
    if state.get("is_asked"):
        return "approve"
    if not state["picks"]:
        return "reflect"
    common = {"generation": state["generation"], "leader": state.get("best_id", "")}
    beside = [Send("confirm", common)] if state.get("is_confirming") else []
    return [*(Send("experiment", {**pick, **common}) for pick in state["picks"]), *beside]


def after_reflect(state: State) -> Literal["select", "__end__"]:
    """Round again until there is a reason to stop."""
    return "__end__" if state["stop"] else "select"
