"""The main graph, as drawn in `docs/graph.md`."""

from __future__ import annotations

from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agents.traced import UntracedRoute
from graph import nodes
from graph.approving import approve
from graph.confirming import Confirmation, confirm
from graph.context import Context
from graph.experiment_node import experiment
from graph.labels import NAME
from graph.routes import after_reflect, fan_out
from graph.state import Start, State, TrialState
from graph.thread_node import stopping_run


class RunGraph(StateGraph[State, Context, Start, State]):
    """The state graph of a run; compiled, it bears the name by which its traces are found."""

    def compile(self, *args: Any, **options: Any) -> CompiledStateGraph[State, Context, Start, State]:
        """Compile as any graph."""
        return super().compile(*args, **{"name": NAME, **options})


def build_graph() -> RunGraph:
    """Build the graph, not compiled: compile it with the checkpointer you want.

    Invoke it with `{"run_id": context.run.id}` and `context=Context(...)`; `graph.drive.drive` does that, with
    checkpoints, the run lock and resuming.
    """
    graph = RunGraph(State, context_schema=Context, input_schema=Start, output_schema=State)
    for node in (nodes.open_run, nodes.select, nodes.retrieve, nodes.plan, approve, nodes.reflect):
        graph.add_node(node.__name__, stopping_run(node))
    graph.add_node("experiment", stopping_run(experiment), input_schema=TrialState)
    graph.add_node("confirm", stopping_run(confirm), input_schema=Confirmation)
    graph.add_edge(START, "open_run")
    graph.add_edge("open_run", "select")
    graph.add_edge("select", "retrieve")
    graph.add_edge("retrieve", "plan")
    graph.add_conditional_edges("plan", UntracedRoute(fan_out), ["approve", "experiment", "confirm", "reflect"])
    graph.add_conditional_edges("approve", UntracedRoute(fan_out), ["experiment", "confirm", "reflect"])
    graph.add_edge("experiment", "reflect")
    graph.add_edge("confirm", "reflect")
    graph.add_conditional_edges("reflect", UntracedRoute(after_reflect), {"select": "select", "__end__": "__end__"})
    return graph
