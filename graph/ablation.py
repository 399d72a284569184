"""The cause of a gain: the same kernel with the change undone, which is its parent, at the kernel's own tunables.

Where both have the same values the parent's own time is that ablation. Where they differ, it takes one estimate of the
parent; a refutation also verifies the parent there, because a wrong kernel may be fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.calibration import gain_pct
from graph.context import Context
from graph.credit import Estimated, estimate_of, is_time
from graph.evaluating import evaluate
from records.experiment import Attempt, Standing
from records.ranking import FAR_APART, is_slight
from sandbox.candidate.prepare import Prepared


def with_cause(context: Context, attempt: Attempt, parent: Attempt | None, estimates: Sequence[Estimated]) -> Attempt:
    """Mark an accepted attempt with the standing of its lesson.

    It is `shown`, `refuted`, or `believed` where nothing shows it.
    """
    idea = attempt.credit.idea_pct
    if parent is None or idea is None:
        return attempt
    undone, asks = undone_choice(parent.tunables, attempt.tunables), is_clear(context, attempt, idea)
    if undone == dict(parent.tunables):
        standing: Standing = "shown" if asks else ""
        return replace(attempt, standing=standing, credit=replace(attempt.credit, shown_pct=idea))
    mine = estimate_of(estimates, attempt.tunables)
    if not asks:
        return attempt
    if mine is None or not context.limits.ablations:
        return replace(attempt, standing="believed")
    theirs = _estimated(context, parent, undone)
    if theirs is None:
        return replace(attempt, standing="believed")
    prepared, time_us = theirs
    shown_pct = gain_pct(time_us, mine.time_us)
    credit = replace(attempt.credit, shown_pct=shown_pct)
    if is_clear(context, attempt, shown_pct) and (shown_pct > 0) == (idea > 0):
        return replace(attempt, standing="shown", credit=credit)
    if not evaluate(context, "verify", prepared).verdict.accepted:
        return replace(attempt, standing="believed")
    return replace(attempt, standing="refuted", credit=credit)


def undone_choice(parents: Mapping[str, int], tunables: Mapping[str, int]) -> dict[str, int]:
    """Give the tunables of the parent with the values of the kernel, where both have them."""
    return {name: tunables.get(name, value) for name, value in parents.items()}


def is_clear(context: Context, attempt: Attempt, gain: float) -> bool:
    """Tell whether a gain or a loss is large enough to ask for its cause; measured levels may differ by the clock."""
    least = context.limits.clear_pct if attempt.time_kind == "predicted" else 100 * (FAR_APART - 1)
    return abs(gain) >= least and not is_slight(gain, attempt.time_error)


def _estimated(context: Context, parent: Attempt, choice: Mapping[str, int]) -> tuple[Prepared, float] | None:
    """Return the parent at these tunables and its estimated time.

    It is None where it cannot be so or the answer is far away.
    """
    if context.deferred is not None:
        return None  # one question is not worth a round trip
    source = context.artefacts.text(parent.source)
    prepared = context.sandbox.prepare(source, context.assignment.task)
    if dict(choice) not in [dict(allowed) for allowed in prepared.choices]:
        return None
    chosen = prepared.choose(choice)
    evaluation = evaluate(context, "estimate", chosen)
    return (chosen, evaluation.geomean_us) if evaluation.verdict.accepted and is_time(evaluation.geomean_us) else None
