"""The stage `explore`: changes of the parent's text and its tunables are searched together, and nobody writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from agents.author import Draft
from graph.context import Context
from graph.credit import Estimated
from graph.evaluating import prepared_again
from graph.exploration import Exploration, Probe
from graph.predictor import Predictor, features_of
from graph.stage import asking, end, enter, fresh, updated
from graph.state import TrialState
from graph.trial import Trial
from records.codec import from_plain, to_plain
from records.experiment import Attempt
from records.quantity import given
from records.ranking import interval_of
from sandbox.candidate.search import Timing
from sandbox.candidate.tuning import FINALISTS


def explore(state: TrialState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Search by estimates; the fastest kernel whose text is right goes on, to be judged and timed in full."""
    trial = Trial(state, runtime.context)
    context, base = trial.context, trial.base()
    enter(state, runtime, "explore", 0)
    prepare = partial(context.sandbox.prepare, task=context.assignment.task)
    assert context.changes is not None
    limits = context.limits
    predictor = learnt(context, state["generation"], base.attempt.time_kind) if limits.predictor else None
    search = Exploration(asking(trial), prepare, context.changes, limits.explorations, context.run.seed, predictor)
    search.run(prepare(base.source).choose(base.attempt.tunables), readings_of(context, base.attempt))
    chosen = search.best
    settled = {"is_settled": search.is_settled}
    if chosen is search.probes[0]:
        update = {**fresh(trial, 0, Draft(base.source, skipped=search.without_gain)), **settled}
        reason = f"no change of {base.attempt.id} and no other value of a tunable gains"
        reason += "; what does not apply and why stands in the report" if search.refusals else ""
        return {**update, **end(updated(state, **update), runtime, "duplicate", reason)}
    same = [p for p in search.probes if p.prepared.id == chosen.prepared.id and p.timing.time_us]
    ranked = sorted(same, key=lambda p: (p is not chosen, given(p.timing.time_us, 0.0)))
    choices = [dict(p.prepared.tunables) for p in ranked[:FINALISTS]]
    draft = Draft(chosen.prepared.source, chosen.changes, search.without_gain)
    drafted = fresh(trial, 0, draft)
    estimates = [to_plain(_estimated(probe)) for probe in same]
    return {
        **drafted,
        **settled,
        "given": drafted["draft"],
        "choices": choices,
        "route": "benchmark",
        "estimates": estimates,
    }


def learnt(context: Context, generation: int, time_kind: str | None) -> Predictor:
    """Teach a predictor by the tuning of the kernels below a generation; what siblings show depends on the threads."""
    predictor = Predictor()
    for attempt in sorted(context.ledger.attempts(context.run.id), key=lambda a: a.id):
        is_alike = attempt.status == "accepted" and attempt.time_kind == time_kind and not attempt.arms
        if not is_alike or attempt.generation >= generation:
            continue
        prepared = prepared_again(context, attempt)
        for choice, timing in readings_of(context, attempt):
            predictor.learn(features_of(prepared.choose(choice)), timing.time_us)
    return predictor


def readings_of(context: Context, attempt: Attempt) -> list[tuple[Mapping[str, int], Timing]]:
    """List the estimates that the search of an attempt's tunables made; none where an older program kept none."""
    if not attempt.readings:
        return []
    estimates = [from_plain(Estimated, row) for row in json.loads(context.artefacts.text(attempt.readings))]
    is_noisy = attempt.time_kind == "measured"
    return [(e.tunables, Timing(e.time_us, *((e.low_us, e.high_us) if is_noisy else ()))) for e in estimates]


def _estimated(probe: Probe) -> Estimated:
    return Estimated(
        dict(probe.prepared.tunables), given(probe.evaluation.geomean_us, 0.0), *interval_of(probe.evaluation)
    )
