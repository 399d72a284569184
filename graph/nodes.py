"""The nodes of the main graph: open_run → select → retrieve → plan ⇉ experiment → reflect, and round again.

Every node asks the ledger before it works, so that running it again after a crash changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from agents.author import Idea, Proposal, Room, Selection, Step
from graph.backlog import offered, proposed_of
from graph.believed import believed, worth_trying
from graph.composing import compose
from graph.confirming import is_open, led_by
from graph.context import Context
from graph.events import Value, annotate, begin_stage, emit, store, tell
from graph.firewall import WalledPlace, optional_answer, walled
from graph.lesson import EXPLORED
from graph.limiting import concluding, limited
from graph.passages import PassageQuery, checked_cites, place_of, planned_with, read
from graph.pausing import pausing
from graph.picking import RULES, as_predicted, pick
from graph.planned import known_picks, known_selection, pick_of
from graph.population import VerifiedKernel, accepted_of, best, kernel, specimen
from graph.queries import of_cost
from graph.recollections import gather
from graph.seeds import begin
from graph.state import SCHEMA_VERSION, Pick, State
from graph.steering import another_cell, answer_to, choice_of, pool, reason_to_stop, rules_of
from records.errors import MalformedReply, TaskError, UsageError
from records.experiment import Attempt, Experiment
from records.quantity import given


@limited
@pausing
def open_run(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write the run down, and judge and tune the task's seeds as generation 0: gains are over the best of them."""
    context = runtime.context
    if not isinstance(context, Context):
        raise UsageError("the graph needs its collaborators: pass context=Context(...) when you invoke it")
    if state.get("run_id", context.run.id) != context.run.id:
        raise UsageError(f"the graph was started for run {state['run_id']} with the context of run {context.run.id}")
    context.ledger.add_run(context.run)
    annotate(runtime, generation=0)
    emit(runtime, "generation", "0", generation=0, of=context.generations_at(0))
    begin_stage(runtime, 0, "seeds")
    first, refusal = begin(runtime)
    if first is None:
        context.ledger.finish(context.run.id, "failed", refusal)
        raise TaskError(refusal)
    leader = best(context, accepted_of(context, 0))
    start = {"first_us": given(first.default_us, 0.0), "seed_us": leader.time_us}
    _tell_best(runtime, 0, leader.attempt, leader.time_us, start)
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": context.run.id,
        "generation": 0,
        "stagnant": 0,
        "stop": "",
        "limit": "",
        "limited_at": "",
        **start,
        "best_id": leader.attempt.id,
        "best_us": leader.time_us,
    }


@limited
@pausing
def select(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Start the next generation: choose the kernel to build on and one to learn from."""
    context, generation = runtime.context, state["generation"] + 1
    annotate(runtime, generation=generation)
    emit(runtime, "generation", str(generation), generation=generation, of=context.generations_at(generation))
    begin_stage(runtime, generation, "select")
    earlier = known_selection(context, generation)
    if earlier is not None:
        return {"generation": generation, "picks": [], "exhausted": False, **earlier}
    leader = kernel(context, state["best_id"]).attempt
    members = pool(context, generation, context.history.members(generation, leader.id))
    ids = {member.id for member in members}
    fastest = (
        leader.id if leader.id in ids else min(members, key=lambda m: m.geomean_us).id
    )  # of a dispatch none is built on
    try:
        step = Step(context.run.id, generation)
        ruled = choice_of(context, generation, fastest, members)
        walled_place = WalledPlace(f"{generation}:select", generation)
        chosen = ruled or optional_answer(
            runtime, walled_place, lambda: context.author.select(step, context.assignment, members)
        )
    except MalformedReply as error:
        chosen = Selection(fastest, leader.parent_id, "the fastest kernel, because the selector gave no answer")
        emit(runtime, "warning", f"{generation}:select", generation=generation, message=str(error))
    base = chosen.base_id if chosen.base_id in ids else fastest
    answer = answer_to(context, state["stagnant"])
    if answer == "another_cell" and base == fastest:
        base = another_cell(context, generation, base, members)
    references = [chosen.reference_id] if ruled else [chosen.reference_id, fastest, *sorted(ids)]
    reference = next((other for other in references if other in ids and other != base), None)
    payload = {"base": base, "reference": reference, "why": chosen.rationale, **({"answer": answer} if answer else {})}
    emit(runtime, "selected", str(generation), generation=generation, **payload)
    return {"generation": generation, "base_id": base, "reference_id": reference, "picks": [], "exhausted": False}


@limited
@pausing
def retrieve(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Look up the author's queries and what binds the base; without a store the run continues with a warning."""
    context, generation = runtime.context, state["generation"]
    annotate(runtime, generation=generation)
    begin_stage(runtime, generation, "retrieve")
    if known_picks(context, generation):
        return {}
    queries: tuple[str, ...] = ()
    base = specimen(context, state["base_id"], generation)
    if context.author.reads and context.limits.planner_tokens:
        try:
            step = Step(context.run.id, generation)
            walled_place = WalledPlace(f"{generation}:retrieve", generation)
            queries = optional_answer(
                runtime, walled_place, lambda: context.author.queries(step, context.assignment, base)
            )
        except MalformedReply as error:
            emit(runtime, "warning", f"{generation}:retrieve", generation=generation, message=str(error))
    queries = (*queries, *of_cost(base.evaluation))
    read(runtime, PassageQuery(place_of(generation), "planner", generation, queries))
    return {}


@limited
@pausing
def plan(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Have experiments proposed, pick some of them and of those kept from earlier, and write them down."""
    context, generation = runtime.context, state["generation"]
    annotate(runtime, generation=generation)
    begin_stage(runtime, generation, "plan")
    if earlier := known_picks(context, generation):
        begin_stage(runtime, generation, "experiments")
        return {"picks": earlier, "exhausted": False, "is_asked": context.approves}
    limits, base = context.limits, specimen(context, state["base_id"], generation)
    memory = believed(context, generation, base)
    inputs = (
        Step(context.run.id, generation),
        context.assignment,
        base,
        planned_with(context, generation),
        memory,
        Room(limits.picks, (context.generations_at(generation) - generation + 1) * limits.picks),
    )
    proposal: Proposal | None
    try:
        proposal = optional_answer(
            runtime, WalledPlace(f"{generation}:plan", generation), lambda: context.author.plan(*inputs)
        )
    except MalformedReply as error:
        emit(runtime, "warning", f"{generation}:plan", generation=generation, message=str(error))
        proposal = None
    if proposal:
        proposal = checked_cites(runtime, generation, proposal)
    rules = rules_of(context, generation, state["stagnant"], tuple(RULES))
    explored = _explored(context, state["base_id"], generation)
    ideas = worth_trying(context, generation, base, offered(memory.backlog, proposal or Proposal((), ())))
    trust = context.history.beliefs(generation).trust if limits.beliefs else as_predicted
    with context.ledger.together():
        if proposal:
            records = proposed_of(context.run.id, generation, state["base_id"], proposal)
            context.ledger.add_proposals(context.run.id, generation, records)
        picks = [
            _start_experiment(context, state, slot, idea, rule)
            for slot, (idea, rule) in enumerate([*explored, *pick(ideas, limits.picks, rules, trust)], 1)
        ]
        planned: dict[str, Value] = {
            "generation": generation,
            "avenues": "\n".join(proposal.avenues) if proposal else "",
            "experiments": ", ".join(p["experiment_id"] for p in picks),
        }
        store(context, "planned", str(generation), planned)
    tell(runtime, "planned", planned)
    begin_stage(runtime, generation, "experiments")
    exhausted = proposal is not None and not picks
    return {"picks": picks, "exhausted": exhausted, "is_asked": bool(picks) and context.approves}


@concluding
@pausing
def reflect(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Examine the generation's results, and decide whether there is a reason to stop."""
    context, generation = runtime.context, state["generation"]
    annotate(runtime, generation=generation)
    incumbent = kernel(context, state["best_id"])
    is_extended = any(e.after == generation for e in context.run.extensions)
    limit = state.get("limit", "")

    def stagnant_at(leader: VerifiedKernel) -> int:
        gained = is_extended or (leader.attempt.id != state["best_id"] and leader.attempt.generation == generation)
        return 0 if gained else state["stagnant"] + (not limit)  # which the generation did not get over

    def stop_of(leader: VerifiedKernel) -> str:
        if limit:
            return context.meter.limit_text(limit)
        return "" if is_extended else reason_to_stop(context, state, leader.evaluation, stagnant_at(leader))

    led = led_by(runtime, generation, incumbent, state.get("is_confirming", False), stop_of)
    if led is None:
        reason = f"the kernel {incumbent.attempt.id} led and failed its confirmation; nothing else is left"
        context.ledger.finish(context.run.id, "failed", reason)
        raise TaskError(reason)
    leader, stop = led
    if leader.attempt.id != state["best_id"]:
        _tell_best(runtime, generation, leader.attempt, leader.time_us, state)
    if stop:
        begin_stage(runtime, generation, "compose")
        end = WalledPlace(f"{generation}:compose", generation)  # which a run that goes on does not build on
        table = walled(runtime, end, lambda: compose(runtime, generation, leader), lambda _: None)
        if table is not None:
            _tell_best(runtime, generation, table.attempt, table.time_us, state, "dispatch")
        earlier = "done" if not context.run.extensions else str(generation)  # an extended run stops more than once
        earlier = f"{generation}:{stop}" if limit else earlier
        emit(runtime, "stopped", earlier, generation=generation, reason=stop)
        if context.limits.memory_tokens:
            context.ledger.remember(gather(context, (table or leader).attempt))
        context.ledger.finish(context.run.id, "done", stop, "limit" if limit else "")
    return {
        "best_id": leader.attempt.id,
        "best_us": leader.time_us,
        "stagnant": stagnant_at(leader),
        "is_confirming": not stop and context.deferred is None and is_open(context, leader),
        "stop": stop,
        "limit": limit,
    }


def _tell_best(
    runtime: Runtime[Context], generation: int, attempt: Attempt, time_us: float, start: Mapping[str, Any], by: str = ""
) -> None:
    won = [c for c in runtime.context.ledger.comparisons(attempt.evaluation_key) if c.verdict == "faster"]
    contrast = {"contrast": won[-1].text} if won else {}  # to the one that led until then
    emit(
        runtime,
        "best",
        f"{generation}{by}",
        generation=generation,
        attempt=attempt.id,
        best_us=time_us,
        time_kind=attempt.time_kind,
        over_seed=start.get("seed_us", start["first_us"]) / time_us,
        over_naive=start["first_us"] / time_us,
        **contrast,
    )


def _start_experiment(context: Context, state: State, slot: int, idea: Idea, rule: str) -> Pick:
    generation = state["generation"]
    experiment = Experiment(
        id=f"g{generation:03d}-e{slot}",
        run_id=context.run.id,
        generation=generation,
        slot=slot,
        parent_id=state["base_id"],
        reference_id=idea.reference_id or state["reference_id"],
        title=idea.title,
        description=idea.description,
        rubric=idea.rubric,
        gain_min_pct=idea.gain_min_pct,
        gain_max_pct=idea.gain_max_pct,
        innovation=idea.innovation,
        picked_as=rule,
        cites=idea.cites,
        move=idea.move,
        mechanism=idea.mechanism,
    )
    return pick_of(context.ledger.add_experiment(experiment))


def _explored(context: Context, base_id: str, generation: int) -> tuple[tuple[Idea, str], ...]:
    """Return the exploration of a base that had none, and did not come out of one that was sure."""
    if not context.explores or base_id in context.history.explored(generation):
        return ()
    title, words = (
        f"explore changes and tunables of {base_id} together",
        "single steps by estimates, the likeliest first",
    )
    rubric = ("nothing is written: known changes and declared tunables",)
    return ((Idea(title, words, rubric, 0.0, 0.0, 10.0), EXPLORED),)  # nobody forecasts what it gains
