"""One experiment as a graph of its own: write → critique → compile → verify → tune → benchmark.

A draft that does not compile or gives wrong results goes back to the writer, each within its own bound; repairs do not
use up a generation. The stage that ends the experiment records its last attempt. A bad kernel is data, so only a broken
machine leaves this graph as an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langsmith.utils import tracing_is_enabled

from agents.author import Draft, Step
from graph.context import Context, Limits
from graph.credit import Notes
from graph.evaluating import announce, evaluate, twin
from graph.events import annotate, emit
from graph.pausing import pausing
from graph.state import TrialState, moved_on
from graph.trial import Trial
from records.codec import to_plain
from records.errors import MalformedReply
from records.evaluation import Evaluation
from records.experiment import AttemptStatus
from sandbox import walk
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import Tuning


def write(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have the kernel written, or the last draft corrected by the remarks of critic, compiler or judge.

    A given source is taken as it is.
    """
    trial, number = Trial(state, runtime.context), state.get("number", -1) + 1
    if state.get("given"):
        return {**_fresh(trial, number, Draft(trial.context.artefacts.text(state["given"]))), "route": "compile"}
    _enter(state, runtime, "write", number)
    author, work = trial.context.author, trial.context.assignment
    step = Step(trial.context.run.id, state["generation"], state["experiment_id"], number)
    base = trial.base()
    try:
        if number == 0:
            draft = author.write(
                step, work, trial.experiment(), trial.idea(), base, trial.reference(), trial.literature()
            )
        else:
            remarks = [] if state["key"] else state["critique"].splitlines()
            draft = author.repair(step, work, trial.idea(), base, trial.draft(), remarks, trial.evaluation())
    except MalformedReply as error:
        fresh = _fresh(trial, number, Draft(""))
        return {**fresh, **_end(_with(state, **fresh), runtime, "failed", str(error))}
    return {**_fresh(trial, number, draft), "route": "critique" if number == 0 else "compile"}


def critique(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have the first draft read before a compiler sees it; remarks send it back once."""
    trial = Trial(state, runtime.context)
    _enter(state, runtime, "critique", state["number"])
    step = Step(trial.context.run.id, state["generation"], state["experiment_id"], state["number"])
    try:
        said = trial.context.author.critique(step, trial.context.assignment, trial.idea(), trial.base(), trial.draft())
    except MalformedReply as error:
        emit(
            runtime,
            "warning",
            f"{state['experiment_id']}:critique",
            generation=state["generation"],
            experiment=state["experiment_id"],
            message=str(error),
        )
        return {"route": "compile"}
    text = "\n".join(said.remarks)
    if said.approve or not said.remarks:
        return {"critique": text, "route": "compile"}
    reason = f"sent back by the critic: {said.remarks[0]}"
    Trial(_with(state, critique=text), runtime.context).record(runtime, "rejected", reason)
    return {"critique": text, "route": "write"}


def compile_draft(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Compile with the default tunables; stop early when an earlier generation had the same kernel."""
    trial = Trial(state, runtime.context)
    _enter(state, runtime, "compile", state["number"])
    prepared = trial.prepared()
    announce(trial.context, prepared, _tuning(trial), state.get("leader", ""))
    result = evaluate(trial.context, "compile", prepared)
    found = {"purpose": "compile", "key": result.key}
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"], candidate=result.candidate_id)
    alone = not result.verdict.accepted or len(prepared.choices) <= 1
    earlier = _twin(trial, prepared, result, by_code=alone)
    if earlier:
        return {**found, **_end(_with(state, **found), runtime, "duplicate", earlier)}
    if result.verdict.accepted:
        return {**found, "route": "verify"}
    failures = state.get("compile_failures", 0) + 1
    return {
        **found,
        "compile_failures": failures,
        **_refuse(_with(state, **found), runtime, failures > trial.context.limits.compile_repairs),
    }


def verify(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Execute and compare with the reference; a hang counts as a wrong result."""
    trial = Trial(state, runtime.context)
    _enter(state, runtime, "verify", state["number"])
    prepared = trial.prepared()
    result = evaluate(trial.context, "verify", prepared)
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"], candidate=result.candidate_id)
    found = {"purpose": "verify", "key": result.key}
    if result.verdict.accepted and len(prepared.choices) > 1:
        return {**found, "route": "tune"}
    if result.verdict.accepted:
        return {**found, "choices": walk.tune(_ask(trial), prepared, _tuning(trial)), "route": "benchmark"}
    return {**found, **_wrong(_with(state, **found), runtime)}


def tune(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Rank the tunables by estimates that verify nothing; the fastest few are judged in full by the next stage."""
    trial = Trial(state, runtime.context)
    _enter(state, runtime, "tune", state["number"])
    notes, prepared = Notes(_ask(trial)), trial.prepared()
    choices = walk.tune(notes, prepared, _tuning(trial))
    return {"choices": choices, "estimates": [to_plain(e) for e in notes.made]}


def benchmark(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Judge and time the finalists in turn until one is right; the last one is the default, which was verified."""
    trial = Trial(state, runtime.context)
    _enter(state, runtime, "benchmark", state["number"])
    earlier = ""

    def is_known(tuned: Prepared, compiled: Evaluation) -> bool:
        nonlocal earlier
        earlier = _twin(trial, tuned, compiled, by_code=True)
        return bool(earlier)

    prepared = trial.prepared()
    looked_up = len(prepared.choices) <= 1  # by `compile`
    best = walk.benchmark(_ask(trial), prepared, state["choices"], *(() if looked_up else (is_known,)))
    annotate(
        runtime,
        generation=state["generation"],
        experiment=state["experiment_id"],
        candidate=best.evaluation.candidate_id,
    )
    found = {
        "purpose": "benchmark",
        "key": best.evaluation.key,
        "tunables": dict(best.prepared.tunables),
        "source": trial.context.artefacts.put(best.prepared.source),
    }
    if best.is_known:
        found["purpose"] = "compile"
        return {**found, **_end(_with(state, **found), runtime, "duplicate", earlier)}
    if best.evaluation.verdict.accepted:
        return {**found, **_end(_with(state, **found), runtime, "accepted", benchmark=best.evaluation)}
    return {**found, **_wrong(_with(state, **found), runtime)}


def follow(state: Mapping[str, Any]) -> str:
    """The stage to which the one before sent the draft, or the end."""
    route: str = state["route"]
    return route


ROUTES: Mapping[str, tuple[str, ...]] = {
    "write": ("critique", "compile", END),
    "critique": ("compile", "write"),
    "compile": ("verify", "write", END),
    "verify": ("tune", "benchmark", "write", END),
    "benchmark": ("write", END),
}


def most_steps(limits: Limits) -> int:
    """More steps than an experiment can take; its own counters stop it before this limit does."""
    return 10 + 7 * (2 + limits.compile_repairs + limits.wrong_repairs)


# One channel for the whole state: every channel costs LangGraph time at every step, and the stages take turns anyway.
_DRAFT = cast(type[TrialState], Annotated[TrialState, moved_on])


def build_experiment() -> StateGraph[TrialState, Context, TrialState, TrialState]:
    """The sub-graph, not compiled."""
    graph = StateGraph(_DRAFT, context_schema=Context)
    for name, node in (
        ("write", write),
        ("critique", critique),
        ("compile", compile_draft),
        ("verify", verify),
        ("tune", tune),
        ("benchmark", benchmark),
    ):
        graph.add_node(name, node, input_schema=_DRAFT)
    graph.add_edge(START, "write")
    for name, targets in ROUTES.items():
        graph.add_conditional_edges(name, follow, {target: target for target in targets})
    graph.add_edge("tune", "benchmark")
    return graph


# No checkpoints of its own: the ledger makes a replay cheap, and fifty generations of them would not be.
# langgraph 1.2 hands the main graph's "sync" down and then waits here for a checkpoint that is never written; the
# `durability` argument would only warn, hence the key it is handed down by.
_DURABILITY = "__pregel_durability"
_TRIAL = build_experiment().compile(checkpointer=False, name="experiment")


@pausing
def experiment(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Run one experiment; it has no checkpoint, so that it pauses here."""
    return {"outcomes": run_trial(state, runtime)["outcomes"]}


def run_trial(state: TrialState, runtime: Runtime[Context]) -> TrialState:
    """Walk one experiment through the graph above and pass its progress on."""
    own: RunnableConfig = {
        "run_name": state["experiment_id"],
        "recursion_limit": most_steps(runtime.context.limits),
        "configurable": {**get_config().get("configurable", {}), _DURABILITY: "async"},
    }
    if tracing_is_enabled():
        labels = {"generation": state["generation"], "experiment": state["experiment_id"]}
        own["metadata"] = {"run": runtime.context.run.id, **labels}
    # Invoked, not streamed: a stream within a stream costs more than all else that is done for a candidate.
    told = runtime.context
    if told.progress is None:
        told = replace(told, progress=runtime.stream_writer)
    return cast(TrialState, _TRIAL.invoke(state, own, context=told))


def _fresh(trial: Trial, number: int, draft: Draft) -> dict[str, Any]:
    """A new draft, and nothing known of it."""
    known = {"critique": "", "key": "", "purpose": "", "source": "", "estimates": []}
    return {"number": number, **trial.keep(draft), **known}


def _enter(state: TrialState, runtime: Runtime[Context], stage: str, number: int) -> None:
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"])
    emit(
        runtime,
        "stage",
        f"{state['experiment_id']}:{stage}:{number}",
        generation=state["generation"],
        experiment=state["experiment_id"],
        stage=stage,
        number=number,
    )


def _twin(trial: Trial, prepared: Prepared, result: Evaluation, by_code: bool) -> str:
    """A sentence on the earlier generation's attempt that is the same kernel; empty where the kernel is new."""
    earlier = twin(trial.context, trial.state["generation"], prepared, result, by_code)
    return "" if earlier is None else f"the same kernel as {earlier.id}, which was {earlier.status}"


def _ask(trial: Trial) -> walk.Ask:
    """The ledger first, then the sandbox."""
    return partial(evaluate, trial.context)


def _tuning(trial: Trial) -> Tuning:
    """The search of this draft's tunables, from the default and from the parent's choice."""
    parent = trial.parent()
    return Tuning((parent.tunables,) if parent else (), trial.context.limits.tunings, trial.context.run.seed)


def _with(state: TrialState, **changes: Any) -> TrialState:
    return cast(TrialState, {**state, **changes})


def _wrong(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    count = state.get("wrong_results", 0) + 1
    return {"wrong_results": count, **_refuse(state, runtime, count > runtime.context.limits.wrong_repairs)}


def _refuse(state: TrialState, runtime: Runtime[Context], is_last: bool) -> dict[str, Any]:
    """Send a refused draft back to the writer, recorded as rejected, or give it up as failed; nobody wrote a seed."""
    if state.get("given"):
        return _end(state, runtime, "rejected")
    if is_last:
        return _end(state, runtime, "failed")
    Trial(state, runtime.context).record(runtime, "rejected", "")
    return {"route": "write"}


def _end(
    state: TrialState,
    runtime: Runtime[Context],
    status: AttemptStatus,
    reason: str = "",
    benchmark: Evaluation | None = None,
) -> dict[str, Any]:
    """Write the experiment's last attempt into the ledger, with its lesson, and end."""
    Trial(state, runtime.context).record(runtime, status, reason, is_last=True, benchmark=benchmark)
    return {"outcomes": {state["experiment_id"]: status}, "route": END}
