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
from sandbox.candidate.dispatch import Variant, dispatch_text
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
    recorded = context.ledger.attempt(context.run.id, f"{experiment.id}-a0")
    if recorded is not None:
        return kernel(context, recorded.id) if recorded.status == "accepted" else None
    if not context.limits.dispatch or len(context.assignment.task.benchmarks) < 2:
        return None
    table = _composed(context, generation, leader)
    if table is None:
        return None
    gain = _gain_pct(context, table, leader)
    if gain is None:
        return None
    for earlier in context.ledger.attempts_like(context.run.id, table.evaluation, by_code=False):
        return kernel(context, earlier.id) if earlier.status == "accepted" else None  # of an earlier end of this run
    attempt = Attempt(
        id=f"{experiment.id}-a0",
        run_id=context.run.id,
        experiment_id=experiment.id,
        generation=generation,
        number=0,
        candidate_id=table.prepared.id,
        source=context.artefacts.put(table.prepared.source),
        status="accepted",
        evaluation_key=table.evaluation.key,
        parent_id=leader.attempt.id,
        geomean_us=table.evaluation.geomean_us,
        time_kind=table.evaluation.time_kind,
        time_error=table.evaluation.time_error,
        code=table.evaluation.verdict.code,
        stage=table.evaluation.verdict.stage,
        strategy=STRATEGY,
        lesson=f"{experiment.title}: {gain:+.1f} % over {leader.attempt.id}; {'; '.join(table.arms)}",
        credit=Credit(idea_pct=gain, shown_pct=gain),
        arms=table.arms,
    )
    context.ledger.add_experiment(experiment)
    record_attempt(runtime, attempt, table.evaluation)
    return VerifiedKernel(attempt, table.evaluation)


def is_composed(attempt: Attempt) -> bool:
    """Tell whether a table is one that a run has made of its kernels, not one that somebody wrote."""
    return attempt.strategy == STRATEGY


def _composed(context: Context, generation: int, leader: VerifiedKernel) -> _Table | None:
    """Find the best table whose kernels are all right."""
    options = options_of(context, generation, leader)
    for _ in range(TRIES):
        times, row_counts = [o.times_us for o in options], [o.rows for o in options]
        rows = best_rows(context.assignment.task.benchmarks, times, context.limits.clear_pct, row_counts)
        if rows is None:
            return None
        wrong = [row.option for row in rows if not is_right(context, options[row.option])]
        if not wrong:
            return _table(context, rows, options)
        options = [option for index, option in enumerate(options) if index not in wrong]
    return None


def _table(context: Context, rows: Sequence[ShapeRange], options: Sequence[Option]) -> _Table | None:
    """Judge the rows as one file, as a whole."""
    names, parts, variants, arms = dict[str, str](), dict[str, str](), list[Variant](), list[str]()
    for when, option in _served(rows, options):
        source = option.source or context.artefacts.text(option.attempt.source)
        name = names.setdefault(source, f"kernel_{len(names) + 1}")
        parts[name] = source
        plain = context.sandbox.prepare(source, context.assignment.task).tunables
        tunables = {} if dict(plain) == dict(option.tunables) else option.tunables
        variants.append(Variant(name, when, tunables))
        values = ", ".join(f"{n}={v}" for n, v in option.tunables.items())
        condition = ", ".join(part for part in (when, option.requires and f"requires {option.requires}") if part)
        arms.append(f"{condition or 'otherwise'}: {option.attempt.id}{values and f' with {values}'}")
    text = dispatch_text(variants, parts)
    if text is None:
        return None
    prepared = context.sandbox.prepare(text, context.assignment.task)
    evaluation = evaluate(context, "benchmark", prepared)
    if (
        evaluation.verdict.accepted
        and needs_confirmation(evaluation)
        and not evaluate(context, "confirm", prepared).verdict.accepted
    ):
        return None
    return _Table(prepared, evaluation, tuple(arms)) if evaluation.verdict.accepted and evaluation.geomean_us else None


def _served(rows: Sequence[ShapeRange], options: Sequence[Option]) -> list[tuple[str, Option]]:
    """List a condition and a kernel for each row; behind one for a part of the shapes stands another for the rest."""
    served = list[tuple[str, Option]]()
    for row in rows:
        option = options[row.option]
        served.append((row.when, option))
        if option.fallback is not None:
            served.append((row.when, option.fallback))
    return served


def _gain_pct(context: Context, table: _Table, leader: VerifiedKernel) -> float | None:
    """Compute the gain over the best single kernel; None where it is not clear. Measured times are taken in turns."""
    if table.evaluation.time_kind == "predicted":
        gain = gain_pct(leader.time_us, given(table.evaluation.geomean_us, leader.time_us))
        is_clear = gain >= context.limits.clear_pct and not ties(table.evaluation, leader.evaluation)
        return gain if is_clear else None
    context.ledger.add_evaluation(context.run.id, table.evaluation)
    source = context.artefacts.put(table.prepared.source)
    challenger = replace(leader.attempt, source=source, tunables={}, evaluation_key=table.evaluation.key)
    comparison = compare(context, challenger, leader.attempt)
    assert comparison.key == comparison_key(table.evaluation.key, leader.attempt.evaluation_key)
    return gain_pct(1.0, comparison.ratio) if comparison.verdict == "faster" else None


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
