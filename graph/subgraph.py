"""One experiment as a graph of its own: write → compile → critique → verify → tune → benchmark.

An author that works at a bench writes there instead, with the same stages as tools; the fastest try that is right goes
on from `compile`, which finds its verdict in the ledger.

A draft that does not compile or gives wrong results goes back to the writer, each within its own bound; repairs do not
use up a generation. The stage that ends the experiment records its last attempt. A bad kernel is data, so only a broken
machine leaves this graph as an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from agents.author import Draft, Step
from agents.bench import Experimenter
from agents.traced import UntracedRoute
from graph.context import Context, Limits
from graph.credit import Notes
from graph.evaluating import announce, evaluate
from graph.events import annotate, emit
from graph.explore_node import explore
from graph.limiting import stage_limited
from graph.passages import read
from graph.queries import of_decline, of_idea, of_refusal
from graph.stage import (
    asking,
    echo_of,
    end,
    enter,
    fresh,
    given_up,
    refuse,
    same_as,
    tuned,
    tuning_of,
    updated,
    within_wall,
    wrong,
)
from graph.state import TrialState, moved_on
from graph.trial import Trial
from graph.workbench import Workbench
from records.codec import to_plain
from records.errors import LimitReached, MalformedReply
from records.evaluation import Evaluation
from sandbox import walk
from sandbox.candidate.prepare import Prepared


def write(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have the kernel written, or the last draft corrected by the remarks of critic, compiler or judge.

    A given source is taken as it is.
    """
    trial, number = Trial(state, runtime.context), state.get("number", -1) + 1
    if state.get("given"):
        return {**fresh(trial, number, Draft(trial.context.artefacts.text(state["given"]))), "route": "compile"}
    enter(state, runtime, "write", number)
    author, work = trial.context.author, trial.context.assignment
    step = Step(trial.context.run.id, state["generation"], state["experiment_id"], number)
    base = trial.base()
    try:
        if number == 0:
            passages = read(runtime, trial.reads("writer", of_idea(trial.idea())))
            draft = author.write(step, work, trial.experiment(), trial.idea(), base, trial.reference(), passages)
        else:
            evaluation = trial.evaluation()
            judged = evaluation if evaluation is not None and not evaluation.verdict.accepted else None
            remarks = () if judged else state["critique"].splitlines()
            passages = read(runtime, trial.reads("repairer", of_refusal(judged, remarks, work.classifies)))
            draft = author.repair(step, work, trial.idea(), base, trial.draft(), remarks, judged, passages)
    except MalformedReply as error:
        made_none = fresh(trial, number, Draft(""))
        return {**made_none, **end(updated(state, **made_none), runtime, "failed", str(error))}
    return {**fresh(trial, trial.free_number(number, draft.source), draft), "route": "compile"}


def bench(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have the author work with tools; the fastest try that is right goes on as the last draft."""
    trial = Trial(state, runtime.context)
    context, author = trial.context, trial.context.author
    enter(state, runtime, "bench", 0)
    step = Step(context.run.id, state["generation"], state["experiment_id"])
    workbench, report, why = Workbench(state, runtime), Draft(""), ""
    assert isinstance(author, Experimenter)
    try:
        report = author.experiment(
            step,
            context.assignment,
            trial.experiment(),
            trial.idea(),
            trial.base(),
            trial.reference(),
            read(runtime, trial.reads("writer", of_idea(trial.idea()))),
            workbench,
        )
    except (MalformedReply, LimitReached) as error:
        why = given_up(context, error, has_kernel=workbench.best is not None)
    ended = workbench.ended(report)
    after = 1 + max((int(t.kernel.name.rpartition("-a")[2]) for t in workbench.tries), default=-1)
    number = trial.free_number(after, ended.draft.source)
    fields = {**fresh(trial, number, ended.draft), "purpose": ended.purpose, "key": ended.key}
    if ended.is_right:
        return {**fields, "route": "compile"}
    return {**fields, **end(updated(state, **fields), runtime, "failed", why or ended.reason)}


def compile_draft(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Compile with the default tunables; stop early when an earlier generation had the same kernel."""
    trial = Trial(state, runtime.context)
    enter(state, runtime, "compile", state["number"])
    prepared = trial.prepared()
    announce(trial.context, prepared, tuning_of(trial), state.get("leader", ""))
    result = evaluate(trial.context, "compile", prepared)
    fields = {"purpose": "compile", "key": result.key}
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"], candidate=result.candidate_id)
    alone = not result.verdict.accepted or len(prepared.choices) <= 1
    earlier = same_as(trial, prepared, result, by_code=alone) or ("" if alone else echo_of(trial, prepared))
    if earlier:
        return {**fields, **end(updated(state, **fields), runtime, "duplicate", earlier)}
    if result.verdict.accepted:
        is_first = state["number"] == 0
        concerns = trial.concerns(result) if is_first else ()
        return {**fields, "concerns": list(concerns), "route": "critique" if concerns else "verify"}
    failures = state.get("compile_failures", 0) + 1
    return {
        **fields,
        "compile_failures": failures,
        **refuse(updated(state, **fields), runtime, failures > trial.context.limits.compile_repairs),
    }


def critique(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have the first draft read, where something speaks against it; remarks send it back once."""
    trial = Trial(state, runtime.context)
    enter(state, runtime, "critique", state["number"])
    context, evaluation, work = trial.context, trial.evaluation(), trial.context.assignment
    step = Step(context.run.id, state["generation"], state["experiment_id"], state["number"])
    assert evaluation is not None
    passages = read(runtime, trial.reads("critic", of_decline(evaluation, trial.base().evaluation, work.classifies)))
    try:
        answer = context.author.critique(
            step, work, trial.idea(), trial.base(), trial.draft(), evaluation, state["concerns"], passages
        )
    except MalformedReply as error:
        emit(
            runtime,
            "warning",
            f"{state['experiment_id']}:critique",
            generation=state["generation"],
            experiment=state["experiment_id"],
            message=str(error),
        )
        return {"route": "verify"}
    text = "\n".join(answer.remarks)
    if answer.approve or not answer.remarks:
        return {"critique": text, "route": "verify"}
    reason = f"sent back by the critic: {answer.remarks[0]}"
    Trial(updated(state, critique=text), runtime.context).record(runtime, "rejected", reason)
    return {"critique": text, "route": "write"}


def verify(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Execute and compare with the reference; a hang counts as a wrong result."""
    trial = Trial(state, runtime.context)
    enter(state, runtime, "verify", state["number"])
    prepared = trial.prepared()
    result = evaluate(trial.context, "verify", prepared)
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"], candidate=result.candidate_id)
    fields = {"purpose": "verify", "key": result.key}
    if result.verdict.accepted and len(prepared.choices) > 1:
        return {**fields, "route": "tune"}
    if result.verdict.accepted:
        return {**fields, "choices": walk.tune(asking(trial), prepared, tuning_of(trial)), "route": "benchmark"}
    return {**fields, **wrong(updated(state, **fields), runtime)}


def tune(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Rank the tunables by estimates that verify nothing; the fastest few are judged in full by the next stage."""
    trial = Trial(state, runtime.context)
    enter(state, runtime, "tune", state["number"])
    notes, prepared = Notes(asking(trial)), trial.prepared()
    choices = tuned(trial, notes, prepared)
    return {"choices": choices, "estimates": [to_plain(e) for e in notes.estimates], "route": "benchmark"}


def benchmark(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Judge and time the finalists in turn until one is right; the last one is the default, which was verified."""
    trial = Trial(state, runtime.context)
    enter(state, runtime, "benchmark", state["number"])
    earlier = ""

    def is_known(tuned: Prepared, compiled: Evaluation) -> bool:
        nonlocal earlier
        earlier = same_as(trial, tuned, compiled, by_code=True)
        return bool(earlier)

    prepared = trial.prepared()
    looked_up = len(prepared.choices) <= 1  # by `compile`
    best = walk.benchmark(asking(trial), prepared, state["choices"], *(() if looked_up else (is_known,)))
    judged = best.evaluation
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"], candidate=judged.candidate_id)
    fields = {
        "purpose": "benchmark",
        "key": best.evaluation.key,
        "tunables": dict(best.prepared.tunables),
        "source": trial.context.artefacts.put(best.prepared.source),
    }
    if best.is_known:
        fields["purpose"] = "compile"
        return {**fields, **end(updated(state, **fields), runtime, "duplicate", earlier)}
    if best.evaluation.verdict.accepted:
        return {**fields, **end(updated(state, **fields), runtime, "accepted", benchmark=best.evaluation)}
    return {**fields, **wrong(updated(state, **fields), runtime)}


def begin(state: Mapping[str, Any], runtime: Runtime[Context]) -> str:
    """Begin at the exploration where nobody writes.

    Begin at the bench for an author that works at one, unless the run gives no tries.
    """
    context = runtime.context
    if state.get("explores"):
        return "explore"
    has_bench = context.limits.tries > 0 and isinstance(context.author, Experimenter)
    return "bench" if has_bench and not state.get("given") else "write"


def follow(state: Mapping[str, Any]) -> str:
    """Go to the stage to which the one before sent the draft, or the end."""
    route: str = state["route"]
    return route


STAGES: Mapping[str, Any] = {  # nodes of a state and a runtime
    **{stage.__name__: stage_limited(within_wall(stage)) for stage in (bench, explore, write)},
    "compile": stage_limited(within_wall(compile_draft)),
    "critique": stage_limited(within_wall(critique), otherwise="verify"),
    **{stage.__name__: stage_limited(within_wall(stage)) for stage in (verify, tune, benchmark)},
}
BEGINNINGS = ("bench", "explore", "write")
ROUTES: Mapping[str, tuple[str, ...]] = {
    "bench": ("compile", END),
    "explore": ("benchmark", END),
    "write": ("compile", END),
    "compile": ("critique", "verify", "write", END),
    "critique": ("verify", "write", END),
    "verify": ("tune", "benchmark", "write", END),
    "tune": ("benchmark", END),
    "benchmark": ("write", END),
}


def most_steps(limits: Limits) -> int:
    """More steps than an experiment can take; its own counters stop it before this limit does."""
    return 10 + 7 * (2 + limits.compile_repairs + limits.wrong_repairs)


# One channel for the whole state: every channel costs LangGraph time at every step, and the stages take turns anyway.
_DRAFT = cast(type[TrialState], Annotated[TrialState, moved_on])


def build_experiment() -> StateGraph[TrialState, Context, TrialState, TrialState]:
    """Build the sub-graph, not compiled."""
    graph = StateGraph(_DRAFT, context_schema=Context)
    for name, node in STAGES.items():
        graph.add_node(name, node, input_schema=_DRAFT)
    graph.add_conditional_edges(START, UntracedRoute(begin), list(BEGINNINGS))
    add_routes(graph)
    return graph


def add_routes(graph: StateGraph[Any, Any, Any, Any]) -> None:
    """Add the edges between the stages."""
    for name, targets in ROUTES.items():
        graph.add_conditional_edges(name, UntracedRoute(follow), list(targets))
