"""The changes between the kernel that a gain is told over and the best one, each with its reason and what bound it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from page.headline import Headline
from records.evaluation import Evaluation
from records.experiment import Attempt, Experiment
from records.ledger import Ledger


@dataclass(frozen=True)
class WinningChange:
    """One step of a descent that ends with the best kernel."""

    id: str  # of the attempt
    parent: str
    title: str  # of the idea
    change: str  # what was done, where changes were searched and nobody wrote
    reason: str  # the hypothesis, as it was written before the attempt
    steps: tuple[str, ...]  # what was done, by the author's own report
    before_us: float | None
    after_us: float | None  # same kind of time only
    bound_before: str  # the resource that bound the slowest case
    bound_after: str
    why_before: str  # the judge's sentences on it
    why_after: str


def winning_changes(
    ledger: Ledger, attempts: Sequence[Attempt], experiments: Mapping[str, Experiment], headline: Headline
) -> Iterator[WinningChange]:
    """Yield the changes of the descent, oldest first."""
    by_id = {a.id: a for a in attempts}
    for attempt in reversed(_descent(by_id, headline)):
        parent, experiment = by_id.get(attempt.parent_id or ""), experiments.get(attempt.experiment_id)
        before, after = (_slowest(ledger.evaluation(a.evaluation_key) if a else None) for a in (parent, attempt))
        yield WinningChange(
            id=attempt.id,
            parent=attempt.parent_id or "",
            title=experiment.title if experiment else "",
            change=attempt.change,
            reason=experiment.description if experiment else "",
            steps=attempt.report,
            before_us=parent.geomean_us if parent and parent.time_kind == attempt.time_kind else None,
            after_us=attempt.geomean_us,
            bound_before=before[0],
            bound_after=after[0],
            why_before=before[1],
            why_after=after[1],
        )


def _descent(by_id: Mapping[str, Attempt], headline: Headline) -> list[Attempt]:
    """List the best attempt and its ancestors, newest first, without the first kernel and all before it."""
    line, attempt = list[Attempt](), by_id.get(headline.best_id)
    while attempt is not None and attempt.generation and attempt.id != headline.over_id and attempt not in line:
        line.append(attempt)
        attempt = by_id.get(attempt.parent_id or "")
    return line


def _slowest(evaluation: Evaluation | None) -> tuple[str, str]:
    """Name what binds the slowest case, with the judge's explanation."""
    if evaluation is None or not evaluation.measurements:
        return "", ""
    return max(evaluation.measurements, key=lambda m: m.time_us).bound, evaluation.explanation
