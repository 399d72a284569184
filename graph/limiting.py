"""The end of a run at one of its limits: what is left of the search is passed over, and `reflect` ends it as ever.

A node that meets a limit says which, the nodes after it do nothing, and the run is done with its best verified kernel.
A stage of an experiment that meets one leaves what it has to the stages that verify, for which a part is kept.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from langgraph.graph import END
from langgraph.runtime import Runtime

from graph.context import Context
from graph.population import accepted_of
from graph.question import asks_for_more
from graph.state import SCHEMA_VERSION
from records.errors import LimitReached

Node = TypeVar("Node", bound=Callable[..., dict[str, Any]])
_BEFORE = {"retrieve": "select", "plan": "retrieve"}  # the node before each that may be stopped; else `reflect`
_BEGINNINGS = ("bench", "explore", "write")  # stages of a kernel's making; what is made is verified still
OUTCOME = "limit:"  # before the limit's name, in an experiment's outcome


def limited(node: Node) -> Node:
    """Wrap a node for the main graph, so that it does nothing once a limit is met, and says which it meets itself."""

    @functools.wraps(node)
    def run(state: Any, runtime: Runtime[Context]) -> dict[str, Any]:
        if state.get("limit"):
            return {}
        try:
            if isinstance(runtime.context, Context):
                runtime.context.meter.check()
            return node(state, runtime)
        except LimitReached as reached:
            start = {} if state.get("best_id") else _start(runtime.context)
            met = {"limit": reached.limit, "limited_at": node.__name__}
            return {**start, **met, "picks": [], "is_asked": False, "exhausted": False}

    return cast(Node, run)


def _start(context: Context) -> dict[str, Any]:
    """Make the state of a run that meets a limit among its seeds: it has those that were judged, or none."""
    run = {"schema_version": SCHEMA_VERSION, "run_id": context.run.id, "generation": 0, "stagnant": 0, "stop": ""}
    kernels = accepted_of(context, 0)
    if not kernels:
        return {**run, "best_id": ""}
    leader = min(kernels, key=lambda k: k.time_us)
    first = kernels[0].attempt.default_us
    return {
        **run,
        "first_us": leader.time_us if first is None else first,
        "seed_us": leader.time_us,
        "best_id": leader.attempt.id,
        "best_us": leader.time_us,
    }


def continued(state: Mapping[str, Any]) -> tuple[dict[str, Any], str] | None:
    """Find the way on for a run that met a limit: the change of its state, and the node behind which that is.

    The node that was stopped is run again, and of a generation's experiments those that were. None for other runs.
    """
    if not state.get("limit"):
        return None
    change = {"stop": "", "limit": "", "limited_at": ""}
    left = [p for p in state.get("picks", ()) if str(state["outcomes"].get(p["experiment_id"])).startswith(OUTCOME)]
    if left:
        return {**change, "picks": left}, "plan"
    if not state.get("limited_at"):  # met where the run would have ended: that is looked at again
        return change, "experiment"
    return change, _BEFORE.get(str(state.get("limited_at")), "reflect")


def concluding(node: Node) -> Node:
    """Wrap the node that ends a run.

    Where a limit does not even allow that, the run ends with what was verified before.
    """

    @functools.wraps(node)
    def run(state: Any, runtime: Runtime[Context]) -> dict[str, Any]:
        limit = limit_of(state)
        try:
            if limit and not state.get("best_id"):
                raise LimitReached("", limit)
            return node({**state, "limit": limit}, runtime)
        except LimitReached as reached:
            context, met = runtime.context, limit if limit else reached.limit
            reason = context.meter.limit_text(met)
            context.ledger.finish(context.run.id, "done", reason, "limit")
            return {"stop": reason, "limit": met}

    return cast(Node, run)


def limit_of(state: Mapping[str, Any]) -> str:
    """Name the limit that was met in this generation, by a node or by one of its experiments; empty for none."""
    if state.get("limit"):
        return str(state["limit"])
    prefix = f"g{state['generation']:03d}-"
    met = [outcome for name, outcome in state.get("outcomes", {}).items() if name.startswith(prefix)]
    return next((outcome.removeprefix(OUTCOME) for outcome in met if outcome.startswith(OUTCOME)), "")


def stage_limited(stage: Callable[..., dict[str, Any]], otherwise: str = END) -> Callable[..., dict[str, Any]]:
    """Wrap the stage of an experiment; where it meets a limit, the experiment goes on at another stage or ends there.

    Seeds are the run's beginning: a limit among them ends that.
    """

    @functools.wraps(stage)
    def run(state: Any, runtime: Runtime[Context]) -> dict[str, Any]:
        try:
            if stage.__name__ in _BEGINNINGS and state["generation"]:
                runtime.context.meter.check()
            return stage(state, runtime)
        except LimitReached as reached:
            if not state["generation"] or asks_for_more(runtime.context, reached):
                raise
            return {"outcomes": {state["experiment_id"]: OUTCOME + reached.limit}, "route": otherwise}

    return run
