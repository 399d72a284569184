"""Names, tags and metadata of a run's trace, for any tracer, also where the graph was invoked without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.base import BaseTracer

from graph.context import Context
from records.program_version import program_version

if TYPE_CHECKING:
    from langchain_core.tracers.schemas import Run as TracedRun

    from records.experiment import Attempt

NAME = "kernel-scientist"


def tags_of(context: Context) -> list[str]:
    """Name the task and the target."""
    return [context.assignment.task.name, context.run.target]


def metadata_of(context: Context) -> dict[str, str]:
    """Name the run, what it was asked for, and the program that drives it now."""
    run, task = context.run, context.assignment.task.name
    return {"run": run.id, "task": task, "target": run.target, "author": run.author, "version": program_version()}


def label_step(context: Context, metadata: dict[str, Any]) -> None:
    """Label the step that is at work, and once the trace of its graph, which may have been invoked without labels."""
    for step, graph in _traced():
        step.add_metadata(metadata)
        if graph is not None and graph.name == NAME and "task" not in graph.metadata:
            graph.add_tags([tag for tag in tags_of(context) if tag not in (graph.tags or [])])
            graph.add_metadata(metadata_of(context))


def label_candidate(attempt: Attempt, ends_experiment: bool) -> None:
    """Label the step that a candidate ended in with what became of it, and the experiment that ends with it."""
    facts = {"outcome": attempt.status, "stage": attempt.stage, "code": attempt.code}
    tags = [f"{name}:{value}" for name, value in facts.items() if value]
    for step, experiment in _traced():
        for labelled in (step, experiment if ends_experiment else None):
            if labelled is not None:
                labelled.add_tags(tags)
                labelled.add_metadata({**facts, "attempt": attempt.id, "candidate": attempt.candidate_id})


def step_of(attempt_id: str) -> TracedRun | None:
    """Return the run of the trace that stands for a candidate which has just been labelled: its experiment or step."""
    for step, experiment in _traced():
        is_whole = experiment is not None and experiment.metadata.get("attempt") == attempt_id
        return experiment if is_whole else step
    return None


def _traced() -> Iterator[tuple[TracedRun, TracedRun | None]]:
    """Yield the step that is at work and the one around it, for each tracer that knows it; none where nobody traces."""
    manager: Any = (var_child_runnable_config.get() or {}).get("callbacks")
    for tracer in getattr(manager, "handlers", ()):
        if isinstance(tracer, BaseTracer) and (step := tracer.run_map.get(str(manager.parent_run_id))) is not None:
            yield step, tracer.run_map.get(str(step.parent_run_id))
