"""Pairs of kernels of which one is better, for training or for a study: only where the difference is certain.

An outcome's tier comes before its time: what does not compile is worse than what is wrong, and a wrong kernel is worse
than any right one. Of two right ones the faster is better where the difference is clear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from records.evaluation import Evaluation, Stage
from records.experiment import Attempt
from records.ranking import by_level

CLEAR = 1.01  # of a predicted time: below that a difference is not worth preferring
TIERS: Mapping[Stage, int] = {"parse": 0, "compile": 0, "execute": 1, "correct": 1, "time": 2}
RIGHT = 3


@dataclass(frozen=True)
class Preference:
    """Two attempts from one parent, the better one first."""

    better: Attempt
    worse: Attempt
    reason: str  # tier or time
    gain_pct: float | None = None  # of the speed, where both are right


def tier(attempt: Attempt, evaluation: Evaluation | None) -> int | None:
    """Return the tier of an outcome; None where nothing was judged, as for a duplicate."""
    if evaluation is None or attempt.status == "duplicate":
        return None
    return RIGHT if evaluation.verdict.accepted and evaluation.geomean_us else TIERS[evaluation.verdict.stage]


def preferences(attempts: Sequence[Attempt], evaluations: Mapping[str, Evaluation]) -> Iterator[Preference]:
    """Yield the pairs of a run's attempts that have one parent, in order of making; `evaluations` by key."""
    judged = [(a, evaluations.get(a.evaluation_key)) for a in attempts if a.generation]
    rated = [(a, e, t) for a, e in judged if e is not None and (t := tier(a, e)) is not None]
    for (first, mine, high), (other, theirs, low) in combinations(rated, 2):
        if first.parent_id != other.parent_id or first.source == other.source:
            continue
        if high != low:
            yield Preference(*((first, other) if high > low else (other, first)), "tier")
        elif high == RIGHT and (preference := _by_time(first, mine, other, theirs)):
            yield preference


def _by_time(first: Attempt, mine: Evaluation, other: Attempt, theirs: Evaluation) -> Preference | None:
    for new, after, old, before in ((first, mine, other, theirs), (other, theirs, first, mine)):
        if by_level(after, before) and after.geomean_us and before.geomean_us:
            ratio = before.geomean_us / after.geomean_us
            return Preference(new, old, "time", 100 * (ratio - 1)) if ratio >= CLEAR else None
    return None
