"""A run of N candidates whose nodes do nothing: what LangGraph alone costs for a graph of the shape of ours.

Run by `benchmarks.loop_rate`: `python -m benchmarks.bare_loop N FOLDER` prints the milliseconds of CPU for a candidate.
Five stages of an experiment in a sub-graph without checkpoints, three experiments a generation, and a checkpoint on
the disk after each step of the main graph, as `graph.drive` has them.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from graph.drive import checkpoints
from graph.state import newest

STAGES = ("write", "critique", "compile", "verify", "benchmark")
PICKS = 3


class Main(TypedDict, total=False):
    """State of the main graph."""

    generation: int
    outcomes: Annotated[dict[str, str], newest]


class Inner(TypedDict, total=False):
    """State of an experiment."""

    experiment_id: str
    route: str
    outcomes: dict[str, str]


def _stage(following: str) -> Any:
    def run(state: Inner) -> dict[str, Any]:
        ended = {"outcomes": {state["experiment_id"]: "accepted"}} if following == END else {}
        return {"route": following, **ended}

    return run


def experiment() -> Any:
    """Compile the sub-graph."""
    graph = StateGraph(Inner)
    for stage, following in zip(STAGES, (*STAGES[1:], END), strict=True):
        graph.add_node(stage, _stage(following))
        graph.add_conditional_edges(stage, lambda state: str(state["route"]), [following, STAGES[0]])
    graph.add_edge(START, STAGES[0])
    return graph.compile(checkpointer=False)


def main_graph(candidates: int) -> StateGraph[Main, None, Main, Main]:
    """Build the graph of a run, not compiled."""
    inner = experiment()

    def run(state: Inner) -> dict[str, Any]:
        config = {"configurable": {**get_config().get("configurable", {}), "__pregel_durability": "async"}}
        return {"outcomes": inner.invoke(state, config)["outcomes"]}

    def fan_out(state: Main) -> list[Send]:
        names = (f"g{state['generation']:03d}-e{slot}" for slot in range(PICKS))
        return [Send("experiment", {"experiment_id": name}) for name in names]

    graph = StateGraph(Main)
    graph.add_node("select", lambda state: {"generation": state["generation"] + 1})
    for name in ("retrieve", "plan", "reflect"):
        graph.add_node(name, lambda state: {"generation": state["generation"]})
    graph.add_node("experiment", run)
    graph.add_edge(START, "select")
    graph.add_edge("select", "retrieve")
    graph.add_edge("retrieve", "plan")
    graph.add_conditional_edges("plan", fan_out, ["experiment"])
    graph.add_edge("experiment", "reflect")
    graph.add_conditional_edges(
        "reflect", lambda state: "select" if state["generation"] * PICKS < candidates else END, ["select", END]
    )
    return graph


def measured(candidates: int, folder: Path) -> float:
    """Measure the milliseconds of CPU for a candidate."""
    with checkpoints(folder / "checkpoint.db") as saver:
        graph = main_graph(candidates).compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "bare"}, "recursion_limit": 10 + 5 * candidates}
        began_s = time.process_time()
        for _ in graph.stream({"generation": 0}, config, stream_mode="custom", durability="sync"):
            pass
        return 1e3 * (time.process_time() - began_s) / candidates


if __name__ == "__main__":
    sys.stdout.write(str(measured(int(sys.argv[1]), Path(sys.argv[2]))))
