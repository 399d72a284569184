"""Name, tags and metadata of a run's trace, also where the graph was invoked without them."""

from __future__ import annotations

from typing import Any

from langchain_core.tracers.langchain import LangChainTracer
from langgraph.config import get_config
from langsmith.run_trees import RunTree

from graph.context import Context
from records.program_version import program_version

NAME = "kernel-scientist"


def tags_of(context: Context) -> list[str]:
    """Name the task and the target."""
    return [context.assignment.task.name, context.run.target]


def metadata_of(context: Context) -> dict[str, str]:
    """Name the run, what it was asked for, and the program that drives it now."""
    run, task = context.run, context.assignment.task.name
    return {"run": run.id, "task": task, "target": run.target, "author": run.author, "version": program_version()}


def label_graph(node: RunTree, context: Context) -> None:
    """Label the trace of the graph that a node belongs to, once; whoever invoked it may have given no labels."""
    for tracer in getattr(get_config().get("callbacks"), "handlers", ()):
        graph: Any = tracer.run_map.get(str(node.parent_run_id)) if isinstance(tracer, LangChainTracer) else None
        if graph is not None and graph.name == NAME and "task" not in graph.metadata:
            graph.add_tags([tag for tag in tags_of(context) if tag not in (graph.tags or [])])
            graph.add_metadata(metadata_of(context))
