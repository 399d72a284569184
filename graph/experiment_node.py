"""An experiment as a node of the main graph: not again once the ledger has its end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langsmith.utils import tracing_is_enabled

from graph.context import Context
from graph.pausing import pausing
from graph.state import TrialState
from graph.subgraph import build_experiment, most_steps
from graph.trial import Trial

# No checkpoints of its own: the ledger makes a replay cheap, and fifty generations of them would not be.
# langgraph 1.2 hands the main graph's "sync" down and then waits here for a checkpoint that is never written; the
# `durability` argument would only warn, hence the key it is handed down by.
_DURABILITY = "__pregel_durability"
_TRIAL = build_experiment().compile(checkpointer=False, name="experiment")


@pausing
def experiment(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Run one experiment; it has no checkpoint, so that it pauses here. One that has ended is not run again."""
    ended = Trial(state, runtime.context).ended()
    if ended is not None:
        return {"outcomes": {ended.experiment_id: ended.status}}
    return {"outcomes": run_trial(state, runtime)["outcomes"]}


def run_trial(state: TrialState, runtime: Runtime[Context]) -> TrialState:
    """Walk one experiment through the graph above and pass its progress on."""
    config: RunnableConfig = {
        "run_name": state["experiment_id"],
        "recursion_limit": most_steps(runtime.context.limits),
        "configurable": {**get_config().get("configurable", {}), _DURABILITY: "async"},
    }
    if tracing_is_enabled():
        labels = {"generation": state["generation"], "experiment": state["experiment_id"]}
        config["metadata"] = {"run": runtime.context.run.id, **labels}
    # Invoked, not streamed: a stream within a stream costs more than all else that is done for a candidate.
    context = runtime.context
    if context.progress is None:
        context = replace(context, progress=runtime.stream_writer)
    return cast(TrialState, _TRIAL.invoke(state, config, context=context))
