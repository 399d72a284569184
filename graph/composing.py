"""The end of a run: a table of its verified kernels by shape, where the cases want different ones.

It is composed of what is known: the benchmarks of the accepted kernels, and the estimates that the tuner made of them.
No estimate is asked for. A choice of tunables that was estimated only is judged in full before it may serve. The table
is a candidate with its own verdict, and its credit is its gain over the best single kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from graph.calibration import gain_pct
from graph.context import Context
from graph.credit import is_time
from graph.evaluating import compare, evaluate
from graph.events import record_attempt
from graph.population import VerifiedKernel, attempt_of, kernel
from graph.split import ShapeRange, best_rows
from records.evaluation import Evaluation, comparison_key
from records.experiment import Attempt, Credit, Experiment
from sandbox.candidate.dispatch import Variant, written
from sandbox.candidate.prepare import Prepared
from sandbox.walk import needs_confirmation

TUNED = 8  # of the fastest kernels: their tuner's estimates are looked at
TRIES = 3  # tables that are composed: one of whose choices is wrong gives way to one without it
STRATEGY = "dispatch"


@dataclass(frozen=True)
class Option:
    """A kernel at one choice of tunables, with times that compare with the benchmarks of the run's kernels."""

    attempt: Attempt
    tunables: Mapping[str, int]
    times_us: Mapping[str, float]  # by benchmark case


@dataclass(frozen=True)
class _Table:
    prepared: Prepared
    evaluation: Evaluation
    arms: tuple[str, ...]


def compose(runtime: Runtime[Context], generation: int, leader: VerifiedKernel) -> VerifiedKernel | None:
    """The dispatch of a run that ends, recorded as an attempt; None where one kernel serves all cases as well."""
    context = runtime.context
    experiment = _experiment(context, generation, leader.attempt)
    known = context.ledger.attempt(context.run.id, f"{experiment.id}-a0")
    if known is not None:
        return kernel(context, known.id) if known.status == "accepted" else None
    if not context.limits.dispatch or len(context.assignment.task.benchmarks) < 2:
        return None
    made = _composed(context, generation, leader)
    if made is None:
        return None
    gain = _gain_pct(context, made, leader)
    if gain is None:
        return None
    for earlier in context.ledger.attempts_like(context.run.id, made.evaluation, by_code=False):
        return kernel(context, earlier.id) if earlier.status == "accepted" else None  # of an earlier end of this run
    attempt = Attempt(
        id=f"{experiment.id}-a0",
        run_id=context.run.id,
        experiment_id=experiment.id,
        generation=generation,
        number=0,
        candidate_id=made.prepared.id,
        source=context.artefacts.put(made.prepared.source),
        status="accepted",
        evaluation_key=made.evaluation.key,
        parent_id=leader.attempt.id,
        geomean_us=made.evaluation.geomean_us,
        time_kind=made.evaluation.time_kind,
        code=made.evaluation.verdict.code,
        stage=made.evaluation.verdict.stage,
        strategy=STRATEGY,
        lesson=f"{experiment.title}: {gain:+.1f} % over {leader.attempt.id}; {'; '.join(made.arms)}",
        credit=Credit(idea_pct=gain, shown_pct=gain),
        arms=made.arms,
    )
    context.ledger.add_experiment(experiment)
    record_attempt(runtime, attempt, made.evaluation)
    return VerifiedKernel(attempt, made.evaluation)


def is_composed(attempt: Attempt) -> bool:
    """True for a table that a run has made of its kernels, not for one that somebody wrote."""
    return attempt.strategy == STRATEGY


def _composed(context: Context, generation: int, leader: VerifiedKernel) -> _Table | None:
    """The best table whose kernels are all right."""
    options = _options(context, generation, leader)
    for _ in range(TRIES):
        rows = best_rows(context.assignment.task.benchmarks, [o.times_us for o in options], context.limits.clear_pct)
        if rows is None:
            return None
        wrong = [row.option for row in rows if not _is_right(context, options[row.option])]
        if not wrong:
            return _table(context, rows, options)
        options = [option for place, option in enumerate(options) if place not in wrong]
    return None


def _table(context: Context, rows: Sequence[ShapeRange], options: Sequence[Option]) -> _Table | None:
    """The rows as one file, judged whole."""
    names, parts, variants, arms = dict[str, str](), dict[str, str](), list[Variant](), list[str]()
    for row in rows:
        option = options[row.option]
        source = option.attempt.source
        name = names.setdefault(source, f"kernel_{len(names) + 1}")
        parts[name] = context.artefacts.text(source)
        plain = context.sandbox.prepare(parts[name], context.assignment.task).tunables
        own = {} if dict(plain) == dict(option.tunables) else option.tunables
        variants.append(Variant(name, row.when, own))
        values = ", ".join(f"{n}={v}" for n, v in option.tunables.items())
        arms.append(f"{row.when or 'otherwise'}: {option.attempt.id}{values and f' with {values}'}")
    text = written(variants, parts)
    if text is None:
        return None
    prepared = context.sandbox.prepare(text, context.assignment.task)
    made = evaluate(context, "benchmark", prepared)
    if (
        made.verdict.accepted
        and needs_confirmation(made)
        and not evaluate(context, "confirm", prepared).verdict.accepted
    ):
        return None
    return _Table(prepared, made, tuple(arms)) if made.verdict.accepted and made.geomean_us else None


def _gain_pct(context: Context, made: _Table, leader: VerifiedKernel) -> float | None:
    """The gain over the best single kernel; None where it is not clear. Measured times are taken in turns."""
    if made.evaluation.time_kind == "predicted":
        gain = gain_pct(leader.time_us, made.evaluation.geomean_us or leader.time_us)
        return gain if gain >= context.limits.clear_pct else None
    context.ledger.add_evaluation(context.run.id, made.evaluation)
    source = context.artefacts.put(made.prepared.source)
    challenger = replace(leader.attempt, source=source, tunables={}, evaluation_key=made.evaluation.key)
    found = compare(context, challenger, leader.attempt)
    assert found.key == comparison_key(made.evaluation.key, leader.attempt.evaluation_key)
    return gain_pct(1.0, found.ratio) if found.verdict == "faster" else None


def _options(context: Context, generation: int, leader: VerifiedKernel) -> list[Option]:
    """The verified kernels as they were timed, the leader first, then the choices that their tuners estimated."""
    cases = {case.name for case in context.assignment.task.benchmarks}
    members = context.history.members(generation + 1, leader.attempt.id)
    ranked = sorted(members, key=lambda m: (m.id != leader.attempt.id, m.geomean_us))
    timed = [m for m in ranked if m.time_kind == leader.attempt.time_kind and m.times_us.keys() >= cases]
    timed = [m for m in timed if all(map(is_time, m.times_us.values()))]
    kernels = [(attempt_of(context, m.id), m.times_us) for m in timed]
    right = [(a, times) for a, times in kernels if a.status == "accepted" and not a.arms]
    own = [Option(attempt, attempt.tunables, times) for attempt, times in right]
    return [*own, *(o for attempt, times in right[:TUNED] for o in _estimated(context, attempt, times))]


def _estimated(context: Context, attempt: Attempt, times_us: Mapping[str, float]) -> list[Option]:
    """The other choices of a kernel, timed by the ratio of two estimates of one file."""
    if not attempt.draft or not attempt.tunables:
        return []
    draft = context.sandbox.prepare(context.artefacts.text(attempt.draft), context.assignment.task)
    known = {
        tuple(sorted(made.tunables.items())): {m.case: m.time_us for m in made.measurements if is_time(m.time_us)}
        for made in context.ledger.estimates(draft.id)
        if made.verdict.accepted and made.key == context.sandbox.key(draft.choose(made.tunables))
    }
    chosen = known.pop(tuple(sorted(attempt.tunables.items())), None)
    if chosen is None or not chosen.keys() >= times_us.keys():
        return []
    return [
        Option(attempt, dict(choice), {case: time * row[case] / chosen[case] for case, time in times_us.items()})
        for choice, row in known.items()
        if row.keys() >= times_us.keys()
    ]


def _is_right(context: Context, option: Option) -> bool:
    """True for a kernel that its whole execution confirms; a choice that was only estimated is judged in full first."""
    source = context.artefacts.text(option.attempt.source)
    prepared = context.sandbox.prepare(source, context.assignment.task, option.tunables)
    made = context.ledger.add_evaluation(context.run.id, evaluate(context, "benchmark", prepared))
    if not made.verdict.accepted or not needs_confirmation(made):
        return made.verdict.accepted
    return evaluate(context, "confirm", prepared).verdict.accepted


def _experiment(context: Context, generation: int, leader: Attempt) -> Experiment:
    return Experiment(
        id=f"g{generation:03d}-e0",
        run_id=context.run.id,
        generation=generation,
        slot=0,
        parent_id=leader.id,
        reference_id=None,
        title="table of kernels by shape",
        description="The verified kernels of the run, each for the shapes that it serves best.",
        picked_as="dispatch",
    )
