"""The attempts that led a run in their turn, the seed they are measured by, and the speed-up over it."""

from __future__ import annotations

from collections.abc import Sequence

from records.evaluation import comparison_key
from records.experiment import Attempt
from records.ledger import Ledger
from records.ranking import by_level


def time_kind(attempts: Sequence[Attempt]) -> str:
    """The kind of time the run is ranked by: measured where anything was, for the two are never compared."""
    kinds = {a.time_kind for a in attempts if a.status == "accepted" and a.geomean_us is not None}
    return "measured" if "measured" in kinds else "predicted" if kinds else ""


def best_attempt(attempts: Sequence[Attempt], ledger: Ledger) -> Attempt | None:
    """The fastest verified attempt; the earliest of equals."""
    leading = leaders(attempts, ledger)
    return leading[-1] if leading else None


def leaders(attempts: Sequence[Attempt], ledger: Ledger) -> list[Attempt]:
    """The verified attempts that were the fastest in their turn, as the run decided it."""
    kind = time_kind(attempts)
    timed = [a for a in attempts if a.status == "accepted" and a.geomean_us is not None and a.time_kind == kind]
    leading = timed[:1]
    for attempt in timed[1:]:
        if _is_faster(attempt, leading[-1], ledger):
            leading.append(attempt)
    return leading


def _is_faster(new: Attempt, old: Attempt, ledger: Ledger) -> bool:
    if new.time_kind != "measured":
        return (new.geomean_us or 0.0) < (old.geomean_us or 0.0)
    after, before = ledger.evaluation(new.evaluation_key), ledger.evaluation(old.evaluation_key)
    decided = by_level(after, before) if after is not None and before is not None else False
    if decided is not None:
        return decided
    compared = ledger.comparison(comparison_key(new.evaluation_key, old.evaluation_key))
    return compared is not None and compared.verdict == "faster"


def seed_attempt(attempts: Sequence[Attempt]) -> Attempt | None:
    """The task's first seed, which every speed-up is counted from; None when it was not verified."""
    first = next((a for a in attempts if a.generation == 0), None)
    return first if first is not None and first.status == "accepted" else None


def speedup(seed: Attempt | None, attempt: Attempt | None) -> float | None:
    """Speed-up over the seed; None unless both have a time of the same kind."""
    if seed is None or attempt is None or not seed.geomean_us or not attempt.geomean_us:
        return None
    return seed.geomean_us / attempt.geomean_us if seed.time_kind == attempt.time_kind else None
