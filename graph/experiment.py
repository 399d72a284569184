"""One experiment as a graph of its own: write → critique → compile → verify → tune → benchmark → record.

A draft that does not compile or gives wrong results goes back to the writer, each within its own bound; repairs do not
use up a generation. A bad kernel is data, so only a broken machine leaves this graph as an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from agents.author import Draft, Step
from graph.context import Context, Limits
from graph.evaluating import announce, evaluate, twin
from graph.events import annotate, emit
from graph.pausing import pausing
from graph.state import TrialOutcome, TrialState
from graph.trial import Trial
from records.errors import MalformedReply
from records.evaluation import Evaluation
from sandbox.candidate.tuning import Tuning, finalists, with_defaults


def write(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have the kernel written, or the last draft mended with what the critic, the compiler or the judge said."""
    desk, number = Trial(state, runtime.context), state.get("number", -1) + 1
    _enter(state, runtime, "write", number)
    author, work = desk.context.author, desk.context.assignment
    step = Step(desk.context.run.id, state["generation"], state["experiment_id"], number)
    base = desk.base()
    try:
        if number == 0:
            draft = author.write(step, work, desk.experiment(), desk.idea(), base, desk.reference(), desk.literature())
        else:
            remarks = [] if state["key"] else state["critique"].splitlines()
            draft = author.repair(step, work, desk.idea(), base, desk.draft(), remarks, desk.evaluation())
    except MalformedReply as error:
        return {**_fresh(desk, number, Draft("")), "status": "failed", "reason": str(error), "route": "record"}
    return {**_fresh(desk, number, draft), "route": "critique" if number == 0 else "compile"}


def critique(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have the first draft read before a compiler sees it; remarks send it back once."""
    desk = Trial(state, runtime.context)
    _enter(state, runtime, "critique", state["number"])
    step = Step(desk.context.run.id, state["generation"], state["experiment_id"], state["number"])
    try:
        said = desk.context.author.critique(step, desk.context.assignment, desk.idea(), desk.base(), desk.draft())
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
    desk = Trial(state, runtime.context)
    _enter(state, runtime, "compile", state["number"])
    source = desk.draft().source
    announce(desk.context, source, _tuning(desk), state.get("leader", ""))
    result = evaluate(desk.context, "compile", source)
    found = {"purpose": "compile", "key": result.key}
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"], candidate=result.candidate_id)
    alone = not result.verdict.accepted or len(desk.context.sandbox.choices(source, desk.context.assignment.task)) <= 1
    twice = _repeated(desk, source, result, by_code=alone)
    if twice:
        return {**found, **twice}
    if result.verdict.accepted:
        return {**found, "route": "verify"}
    failures = state.get("compile_failures", 0) + 1
    return {
        **found,
        "compile_failures": failures,
        **_refuse(_with(state, **found), runtime, failures > desk.context.limits.compile_repairs),
    }


def verify(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Execute and compare with the reference; a hang counts as a wrong result."""
    desk = Trial(state, runtime.context)
    _enter(state, runtime, "verify", state["number"])
    result = evaluate(desk.context, "verify", desk.draft().source)
    annotate(runtime, generation=state["generation"], experiment=state["experiment_id"], candidate=result.candidate_id)
    found = {"purpose": "verify", "key": result.key}
    if result.verdict.accepted:
        return {**found, "route": "tune"}
    return {**found, **_wrong(_with(state, **found), runtime)}


def tune(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Rank the tunables by estimates that verify nothing; the fastest few are judged in full by the next stage."""
    desk = Trial(state, runtime.context)
    context, task = desk.context, desk.context.assignment.task
    _enter(state, runtime, "tune", state["number"])
    source = desk.draft().source

    def estimate(choice: Mapping[str, int]) -> float | None:
        made = evaluate(context, "estimate", source, choice)
        return made.rank_us if made.verdict.accepted else None

    chosen = finalists(context.sandbox.choices(source, task), _tuning(desk), estimate)
    return {"choices": chosen, "route": "benchmark"}


def benchmark(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Judge and time the finalists in turn until one is right; the last one is the default, which was verified."""
    desk = Trial(state, runtime.context)
    _enter(state, runtime, "benchmark", state["number"])
    plain = desk.draft().source
    found: dict[str, Any] = {}
    for choice in state["choices"]:
        source = with_defaults(plain, choice)
        twice = _repeated(desk, source, evaluate(desk.context, "compile", source, choice), by_code=True)
        if twice:
            return {"source": desk.context.artefacts.put(source), "tunables": choice, **twice}
        result = evaluate(desk.context, "benchmark", source, choice)
        annotate(
            runtime, generation=state["generation"], experiment=state["experiment_id"], candidate=result.candidate_id
        )
        found = {
            "purpose": "benchmark",
            "key": result.key,
            "tunables": choice,
            "source": desk.context.artefacts.put(source),
        }
        if result.verdict.accepted:
            return {**found, "status": "accepted", "reason": "", "route": "record"}
    return {**found, **_wrong(_with(state, **found), runtime)}


def record(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write the experiment's last attempt into the ledger, with what there is to learn from it."""
    _enter(state, runtime, "record", state["number"])
    desk = Trial(state, runtime.context)
    desk.record(runtime, state["status"], state["reason"], is_last=True)
    return {"outcomes": {state["experiment_id"]: state["status"]}}


def follow(state: TrialState) -> str:
    """Where the stage before sent the draft."""
    return state["route"]


ROUTES: Mapping[str, tuple[str, ...]] = {
    "write": ("critique", "compile", "record"),
    "critique": ("compile", "write"),
    "compile": ("verify", "write", "record"),
    "verify": ("tune", "write", "record"),
    "benchmark": ("record", "write"),
}


def most_steps(limits: Limits) -> int:
    """More steps than an experiment can take; our own counters stop it before this fence does."""
    return 10 + 7 * (2 + limits.compile_repairs + limits.wrong_repairs)


def build_experiment() -> StateGraph[TrialState, Context, TrialState, TrialOutcome]:
    """The sub-graph, not compiled."""
    graph = StateGraph(TrialState, context_schema=Context, input_schema=TrialState, output_schema=TrialOutcome)
    for name, node in (
        ("write", write),
        ("critique", critique),
        ("compile", compile_draft),
        ("verify", verify),
        ("tune", tune),
        ("benchmark", benchmark),
        ("record", record),
    ):
        graph.add_node(name, node)
    graph.add_edge(START, "write")
    for name, targets in ROUTES.items():
        graph.add_conditional_edges(name, follow, {target: target for target in targets})
    graph.add_edge("tune", "benchmark")
    graph.add_edge("record", END)
    return graph


# No checkpoints of its own: the ledger makes a replay cheap, and fifty generations of them would not be.
# langgraph 1.2 hands the main graph's "sync" down and then waits here for a checkpoint that is never written; the
# `durability` argument would only warn, hence the key it is handed down by.
_DURABILITY = "__pregel_durability"
_TRIAL = build_experiment().compile(checkpointer=False, name="experiment")


@pausing
def experiment(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Run one experiment and pass its progress on; it has no checkpoint, so it is here that it pauses."""
    metadata = {"run": runtime.context.run.id, "generation": state["generation"], "experiment": state["experiment_id"]}
    own: RunnableConfig = {
        "run_name": state["experiment_id"],
        "metadata": metadata,
        "recursion_limit": most_steps(runtime.context.limits),
        "configurable": {**get_config().get("configurable", {}), _DURABILITY: "async"},
    }
    outcomes: dict[str, str] = {}
    for mode, part in _TRIAL.stream(state, own, context=runtime.context, stream_mode=["custom", "values"]):
        if mode == "custom":
            runtime.stream_writer(part)
        elif isinstance(part, dict) and "outcomes" in part:
            outcomes = part["outcomes"]
    return {"outcomes": outcomes}


def _fresh(desk: Trial, number: int, draft: Draft) -> dict[str, Any]:
    """A new draft, and nothing known of it."""
    return {
        "number": number,
        "draft": desk.keep(draft),
        "critique": "",
        "key": "",
        "purpose": "",
        "source": "",
        "reason": "",
    }


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


def _repeated(desk: Trial, source: str, result: Evaluation, by_code: bool) -> dict[str, Any] | None:
    """What to do with a kernel that an earlier generation had; None when it is new."""
    earlier = twin(desk.context, desk.state["generation"], source, result, by_code)
    if earlier is None:
        return None
    return {
        "purpose": "compile",
        "key": result.key,
        "status": "duplicate",
        "route": "record",
        "reason": f"the same kernel as {earlier.id}, which was {earlier.status}",
    }


def _tuning(desk: Trial) -> Tuning:
    """The search of this draft's tunables, from the default and from the parent's choice."""
    return Tuning((desk.base().attempt.tunables,), desk.context.limits.tunings, desk.context.run.seed)


def _with(state: TrialState, **changes: Any) -> TrialState:
    return cast(TrialState, {**state, **changes})


def _wrong(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    count = state.get("wrong_results", 0) + 1
    return {"wrong_results": count, **_refuse(state, runtime, count > runtime.context.limits.wrong_repairs)}


def _refuse(state: TrialState, runtime: Runtime[Context], is_last: bool) -> dict[str, Any]:
    """Send a refused draft back to the writer, recorded as rejected, or give it up as failed."""
    if is_last:
        return {"status": "failed", "reason": "", "route": "record"}
    Trial(state, runtime.context).record(runtime, "rejected", "")
    return {"route": "write"}
