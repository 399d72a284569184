"""The end of a run: a table of its verified kernels by shape, where the cases want different ones.

It is composed of what `graph/table_options.py` knows. A choice of tunables that was estimated only is judged in full
before it may serve. The table is a candidate with its own verdict, and its credit is its gain over the best single
kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from graph.calibration import gain_pct
from graph.context import Context
from graph.evaluating import compare, evaluate
from graph.events import record_attempt
from graph.population import VerifiedKernel, kernel
from graph.split import ShapeRange, best_rows
from graph.table_options import Option, is_right, options_of
from records.evaluation import Evaluation, comparison_key
from records.experiment import Attempt, Credit, Experiment
from records.quantity import given
from records.ranking import ties
from sandbox.candidate.dispatch import Variant, written
from sandbox.candidate.prepare import Prepared
from sandbox.walk import needs_confirmation

TRIES = 3  # tables that are composed: one of whose choices is wrong gives way to one without it
STRATEGY = "dispatch"


@dataclass(frozen=True)
class _Table:
    prepared: Prepared
    evaluation: Evaluation
    arms: tuple[str, ...]


def compose(runtime: Runtime[Context], generation: int, leader: VerifiedKernel) -> VerifiedKernel | None:
    """Build the dispatch of a run that ends, recorded as an attempt; None where one kernel serves all cases as well."""
    context = runtime.context
    if not generation:  # a limit among the seeds or right behind them: nothing is there that could serve beside them
        return None
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
        time_error=made.evaluation.time_error,
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
    """Tell whether a table is one that a run has made of its kernels, not one that somebody wrote."""
    return attempt.strategy == STRATEGY


def _composed(context: Context, generation: int, leader: VerifiedKernel) -> _Table | None:
    """Find the best table whose kernels are all right."""
    options = options_of(context, generation, leader)
    for _ in range(TRIES):
        times, taken = [o.times_us for o in options], [o.rows for o in options]
        rows = best_rows(context.assignment.task.benchmarks, times, context.limits.clear_pct, taken)
        if rows is None:
            return None
        wrong = [row.option for row in rows if not is_right(context, options[row.option])]
        if not wrong:
            return _table(context, rows, options)
        options = [option for place, option in enumerate(options) if place not in wrong]
    return None


def _table(context: Context, rows: Sequence[ShapeRange], options: Sequence[Option]) -> _Table | None:
    """Judge the rows as one file, as a whole."""
    names, parts, variants, arms = dict[str, str](), dict[str, str](), list[Variant](), list[str]()
    for when, option in _served(rows, options):
        source = option.source or context.artefacts.text(option.attempt.source)
        name = names.setdefault(source, f"kernel_{len(names) + 1}")
        parts[name] = source
        plain = context.sandbox.prepare(source, context.assignment.task).tunables
        own = {} if dict(plain) == dict(option.tunables) else option.tunables
        variants.append(Variant(name, when, own))
        values = ", ".join(f"{n}={v}" for n, v in option.tunables.items())
        said = ", ".join(each for each in (when, option.requires and f"requires {option.requires}") if each)
        arms.append(f"{said or 'otherwise'}: {option.attempt.id}{values and f' with {values}'}")
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


def _served(rows: Sequence[ShapeRange], options: Sequence[Option]) -> list[tuple[str, Option]]:
    """List a condition and a kernel for each row; behind one for a part of the shapes stands another for the rest."""
    found = list[tuple[str, Option]]()
    for row in rows:
        option = options[row.option]
        found.append((row.when, option))
        if option.rest is not None:
            found.append((row.when, option.rest))
    return found


def _gain_pct(context: Context, made: _Table, leader: VerifiedKernel) -> float | None:
    """Compute the gain over the best single kernel; None where it is not clear. Measured times are taken in turns."""
    if made.evaluation.time_kind == "predicted":
        gain = gain_pct(leader.time_us, given(made.evaluation.geomean_us, leader.time_us))
        is_clear = gain >= context.limits.clear_pct and not ties(made.evaluation, leader.evaluation)
        return gain if is_clear else None
    context.ledger.add_evaluation(context.run.id, made.evaluation)
    source = context.artefacts.put(made.prepared.source)
    challenger = replace(leader.attempt, source=source, tunables={}, evaluation_key=made.evaluation.key)
    found = compare(context, challenger, leader.attempt)
    assert found.key == comparison_key(made.evaluation.key, leader.attempt.evaluation_key)
    return gain_pct(1.0, found.ratio) if found.verdict == "faster" else None


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
