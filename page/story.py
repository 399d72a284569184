"""What a run comes to, for the head of its page: the gain over the kernel that it began with, and what made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from page.leaders import Yardsticks
from records.evaluation import Evaluation
from records.experiment import Attempt, Experiment
from records.ledger import Ledger

Origin = Literal["given", "seed", ""]  # a kernel that the user gave; the fastest of the task's own; none is verified
GIVEN = frozenset({"given", "file"})  # `picked_as` of what the user gave


@dataclass(frozen=True)
class WinningChange:
    """One step from the kernel that a run began with to its best one."""

    id: str  # of the attempt
    parent: str
    title: str
    reason: str  # the hypothesis, as it was written before the attempt
    steps: tuple[str, ...]  # what was done, by the author's own report
    before_us: float | None
    after_us: float | None  # same kind of time only
    bound_before: str  # the resource that bound the slowest case
    bound_after: str
    why_before: str  # the judge's sentences on it
    why_after: str


@dataclass(frozen=True)
class Story:
    """The gain of a run over the kernel that it began with, and the changes on the way to it."""

    origin: Origin = ""
    origin_id: str = ""
    origin_name: str = ""  # as the experiment of generation 0 is called
    origin_us: float | None = None  # as given; a seed as tuned
    best_us: float | None = None
    gain: float | None = None  # a speed-up; None unless both times are of one kind
    changes: tuple[WinningChange, ...] = ()  # oldest first


def story_of(
    ledger: Ledger,
    attempts: Sequence[Attempt],
    experiments: Mapping[str, Experiment],
    seeds: Yardsticks,
    best: Attempt | None,
) -> Story:
    """Tell the story of a run as far as it goes."""
    given = [a for a in attempts if not a.generation and _picked_as(a, experiments) in GIVEN and a.status == "accepted"]
    origin = given[0] if given else seeds.best
    if origin is None:
        return Story()
    origin_us = origin.default_us if given else origin.geomean_us
    is_told = best is not None and best.geomean_us and origin_us and origin.time_kind == best.time_kind
    experiment = experiments.get(origin.experiment_id)
    return Story(
        origin="given" if given else "seed",
        origin_id=origin.id,
        origin_name=experiment.title if experiment else "",
        origin_us=origin_us,
        best_us=best.geomean_us if best else None,
        gain=origin_us / best.geomean_us if is_told and best and best.geomean_us and origin_us else None,
        changes=tuple(_changes(ledger, attempts, experiments, origin, best)),
    )


def _picked_as(attempt: Attempt, experiments: Mapping[str, Experiment]) -> str:
    experiment = experiments.get(attempt.experiment_id)
    return experiment.picked_as if experiment else ""


def _changes(
    ledger: Ledger,
    attempts: Sequence[Attempt],
    experiments: Mapping[str, Experiment],
    origin: Attempt,
    best: Attempt | None,
) -> Iterator[WinningChange]:
    by_id = {a.id: a for a in attempts}
    for attempt in reversed(_descent(by_id, origin, best)):
        parent, experiment = by_id.get(attempt.parent_id or ""), experiments.get(attempt.experiment_id)
        before, after = (_slowest(ledger.evaluation(a.evaluation_key) if a else None) for a in (parent, attempt))
        is_told = parent is not None and parent.time_kind == attempt.time_kind
        yield WinningChange(
            id=attempt.id,
            parent=attempt.parent_id or "",
            title=experiment.title if experiment else "",
            reason=experiment.description if experiment else "",
            steps=attempt.report,
            before_us=parent.geomean_us if parent and is_told else None,
            after_us=attempt.geomean_us,
            bound_before=before[0],
            bound_after=after[0],
            why_before=before[1],
            why_after=after[1],
        )


def _descent(by_id: Mapping[str, Attempt], origin: Attempt, best: Attempt | None) -> list[Attempt]:
    """List the best attempt and its ancestors, newest first, down to the origin or to generation 0, both left out."""
    line, attempt = list[Attempt](), best
    while attempt is not None and attempt.generation and attempt.id != origin.id and attempt not in line:
        line.append(attempt)
        attempt = by_id.get(attempt.parent_id or "")
    return line


def _slowest(evaluation: Evaluation | None) -> tuple[str, str]:
    """Name what binds the slowest case, with the judge's explanation."""
    if evaluation is None or not evaluation.measurements:
        return "", ""
    return max(evaluation.measurements, key=lambda m: m.time_us).bound, evaluation.explanation
