"""Verdicts, times and comparisons: the ledger is asked first, the sandbox only for what is not known yet."""

from __future__ import annotations

from functools import partial

from graph.claiming import claimed, release, tell_payer
from graph.context import Context
from records import ledger
from records.codec import as_stored
from records.durability import is_conclusion
from records.errors import DeviceError, LabError
from records.evaluation import Comparison, Contender, Evaluation, Rival, comparison_key
from records.experiment import Attempt
from records.ranking import interval_of
from sandbox import dispatched
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import Tuning
from sandbox.walk import Purpose, question

CONFIRMATIONS: tuple[ledger.Purpose, ...] = ("confirm", "ahead")  # of a whole execution: in force, and not yet due


def evaluate(context: Context, purpose: Purpose, prepared: Prepared) -> Evaluation:
    """Return the stored evaluation of this candidate and purpose, or a new one, stored before it is used.

    Where another run is making it, it is waited for. A conclusion is stored by `record_attempt`, which follows at once.
    """
    key = context.sandbox.key(prepared)
    refused = dispatched.alone(prepared, key)
    earlier = as_stored(refused) if refused is not None else context.ledger.evaluation(key, purpose)
    if earlier is not None:
        tell_payer(context, key, purpose)
        return earlier
    with claimed(context, key, purpose) as awaited:
        if awaited is not None:
            tell_payer(context, key, purpose)
            return awaited
        if prepared.arms:
            evaluation = dispatched.judged(partial(evaluate_arm, context), purpose, prepared, key)
        else:
            ahead = context.ledger.evaluation(key, "ahead") if purpose == "confirm" else None
            if ahead is not None:
                evaluation = ahead
            else:
                with context.meter.judging(purpose) as worked:  # LimitReached where a limit does not allow it
                    evaluation = question(context.sandbox, purpose)(prepared)
                    worked(evaluation.seconds)
        stored = _stored(context, purpose, evaluation, key)
    if not is_conclusion(purpose, evaluation):
        release(context, key, purpose)
    return stored


def evaluate_ahead(context: Context, prepared: Prepared) -> None:
    """Execute a kernel whole, and keep the answer where nothing but `evaluate` finds it, when it is asked to confirm.

    A table of kernels is left to `evaluate`, which executes each of its kernels.
    """
    key = context.sandbox.key(prepared)
    is_known = any(context.ledger.evaluation(key, purpose) is not None for purpose in CONFIRMATIONS)
    if not is_known and not prepared.arms:
        context.ledger.add_evaluation(context.run.id, _judged(context, "confirm", prepared), "ahead")


def evaluate_arm(context: Context, purpose: Purpose, arm: Prepared) -> Evaluation:
    """Return the evaluation of a kernel of a table, stored under its own key.

    It may be right for a part of the shapes.
    """
    key = context.sandbox.key(arm)
    earlier = context.ledger.evaluation(key, purpose)
    evaluation = earlier or _stored(context, purpose, _judged(context, purpose, arm), key)
    return context.ledger.add_evaluation(context.run.id, evaluation, purpose)


def _judged(context: Context, purpose: Purpose, prepared: Prepared) -> Evaluation:
    """Get the sandbox's answer; LimitReached where a limit of the run does not allow the question."""
    with context.meter.judging(purpose) as worked:
        evaluation = question(context.sandbox, purpose)(prepared)
        worked(evaluation.seconds)
    return evaluation


def _timed_in_turns(context: Context, new: Prepared, old: Prepared) -> Comparison:
    with context.meter.judging("compare") as worked:
        comparison = context.sandbox.compare(new, old)
        worked(comparison.seconds)
    return comparison


def _stored(context: Context, purpose: Purpose, evaluation: Evaluation, key: str) -> Evaluation:
    if evaluation.key != key:
        raise LabError(
            f"the sandbox answered for key {evaluation.key[:12]} when asked for {key[:12]}; please report this"
        )
    if is_conclusion(purpose, evaluation):
        return as_stored(evaluation)
    return context.ledger.add_evaluation(context.run.id, evaluation, purpose)


def announce(context: Context, prepared: Prepared, tuning: Tuning, leader_id: str) -> None:
    """Announce all questions on a candidate to a sandbox that answers later, so that one round trip is enough."""
    if context.deferred is None:
        return
    for arm in prepared.arms:
        context.deferred.announce(arm.prepared, Tuning((), 0, context.run.seed), None)
    if not prepared.arms:
        context.deferred.announce(prepared, tuning, _rival(context, leader_id))


def _rival(context: Context, leader_id: str) -> Rival | None:
    """Find the kernel that leads, where it was measured: predicted times need no comparison."""
    leader = context.ledger.attempt(context.run.id, leader_id)
    evaluation = None if leader is None else context.ledger.evaluation(leader.evaluation_key)
    if leader is None or leader.arms or evaluation is None or evaluation.time_kind != "measured":
        return None
    return Rival(Contender(context.artefacts.text(leader.source), leader.tunables), *interval_of(evaluation))


def compare(context: Context, challenger: Attempt, incumbent: Attempt) -> Comparison:
    """Return the stored comparison of two accepted attempts, or a new one, stored before it is used."""
    earlier = context.ledger.comparison(comparison_key(challenger.evaluation_key, incumbent.evaluation_key))
    if earlier is not None:
        return earlier
    return compare_prepared(context, *(prepared_again(context, attempt) for attempt in (challenger, incumbent)))


def compare_prepared(context: Context, new: Prepared, old: Prepared) -> Comparison:
    """Return the stored comparison of two verified candidates, or a new one, stored before it is used."""
    mine, other = context.sandbox.key(new), context.sandbox.key(old)
    key = comparison_key(mine, other)
    earlier = context.ledger.comparison(key)
    if earlier is not None:
        return earlier
    if new.arms or old.arms:
        plain = Comparison(key, mine, other, "undecided", 1.0, 1.0, 1.0)
        comparison = dispatched.compared(partial(_in_turns, context), new, old, plain)
    else:
        comparison = _timed_in_turns(context, new, old)
    if comparison.key != key:
        raise DeviceError(f"the sandbox compared {comparison.key[:12]} when asked for {key[:12]}; please report this")
    return context.ledger.add_comparison(context.run.id, comparison)


def _in_turns(context: Context, new: Prepared, old: Prepared) -> Comparison | None:
    """Return the comparison of two kernels, stored under its own key; None where they are one."""
    keys = context.sandbox.key(new), context.sandbox.key(old)
    if keys[0] == keys[1]:
        return None
    earlier = context.ledger.comparison(comparison_key(*keys))
    return earlier or context.ledger.add_comparison(context.run.id, _timed_in_turns(context, new, old))


def prepared_again(context: Context, attempt: Attempt) -> Prepared:
    """Prepare the candidate of an attempt."""
    source = context.artefacts.text(attempt.source)
    return context.sandbox.prepare(source, context.assignment.task, attempt.tunables)


def earlier_like(
    context: Context, generation: int, prepared: Prepared, evaluation: Evaluation, by_code: bool
) -> Attempt | None:
    """Find the first attempt of an earlier generation that is the same kernel, or None.

    The same kernel is the same normalised source or, if asked, the same device code started by the same launches with
    the same tunables. Siblings are not looked at: which of them is first would depend on the threads.
    """
    for attempt in context.ledger.attempts_like(context.run.id, evaluation, by_code):
        if attempt.generation >= generation:
            continue
        if attempt.candidate_id == evaluation.candidate_id or _is_alike(context, attempt, prepared, evaluation):
            return attempt
    return None


def is_echo(context: Context, prepared: Prepared, parent: Attempt) -> bool:
    """Tell whether a file with tunables is its parent's in other words.

    Then the plan is the same, and so is the device code.

    The code is compared at the defaults of both files, before tuning. A sandbox that is far away is not asked.
    """
    theirs = prepared_again(context, parent)
    if context.deferred is not None or prepared.refusal or _plan(prepared) != _plan(theirs):
        return False
    for choice in (dict(prepared.tunables), dict(theirs.tunables)):
        mine, other = (evaluate(context, "compile", file.choose(choice)) for file in (prepared, theirs))
        if not mine.code_object or mine.code_object != other.code_object:
            return False
    return True


def _plan(prepared: Prepared) -> tuple[object, ...]:
    plan = prepared.candidate.plan
    return plan.launches, plan.workspaces, dict(plan.constraints), {n: sorted(v) for n, v in plan.tunables.items()}


def _is_alike(context: Context, attempt: Attempt, prepared: Prepared, evaluation: Evaluation) -> bool:
    """Tell whether an attempt with this device code has the same tunables and launches."""
    earlier = context.ledger.evaluation(attempt.evaluation_key)
    return (
        earlier is not None
        and earlier.code_object == evaluation.code_object
        and dict(earlier.tunables) == dict(evaluation.tunables)
        and _launches(prepared_again(context, attempt)) == _launches(prepared)
    )


def _launches(prepared: Prepared) -> tuple[object, ...]:
    plan = prepared.candidate.plan
    rows = tuple((arm.variant.when, *_launches(arm.prepared)) for arm in prepared.arms)
    return plan.launches, plan.workspaces, rows
