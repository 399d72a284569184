"""The attempts that led a run in their turn, the seeds they are measured by, and the speed-up over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from records.evaluation import comparison_key
from records.experiment import Attempt
from records.ledger import Ledger
from records.ranking import by_level, is_shorter


def time_kind(attempts: Sequence[Attempt]) -> str:
    """Return the kind of time the run is ranked by: measured where anything was, for the two are never compared."""
    kinds = {a.time_kind for a in attempts if a.status == "accepted" and a.geomean_us is not None}
    return "measured" if "measured" in kinds else "predicted" if kinds else ""


def best_attempt(attempts: Sequence[Attempt], ledger: Ledger) -> Attempt | None:
    """Find the fastest verified attempt; the earliest of equals."""
    leading = leaders(attempts, ledger)
    return leading[-1] if leading else None


def leaders(attempts: Sequence[Attempt], ledger: Ledger) -> list[Attempt]:
    """List the verified attempts that were the fastest in their turn, as the run decided it."""
    kind = time_kind(attempts)
    timed = [a for a in attempts if a.status == "accepted" and a.geomean_us is not None and a.time_kind == kind]
    leading = timed[:1]
    for attempt in timed[1:]:
        if _is_faster(attempt, leading[-1], ledger):
            leading.append(attempt)
    return leading


def _is_faster(new: Attempt, old: Attempt, ledger: Ledger) -> bool:
    if new.time_kind != "measured":
        return is_shorter(new, old)
    after, before = ledger.evaluation(new.evaluation_key), ledger.evaluation(old.evaluation_key)
    decided = by_level(after, before) if after is not None and before is not None else False
    if decided is not None:
        return decided
    compared = ledger.comparison(comparison_key(new.evaluation_key, old.evaluation_key))
    return compared is not None and compared.verdict == "faster"


@dataclass(frozen=True)
class Yardsticks:
    """The kernels of generation 0 that a run's gain is told against; None where one was not verified."""

    naive: Attempt | None  # the first one, as its file has it
    best: Attempt | None  # the fastest one, as tuned
    user_kernel: Attempt | None = None  # the fastest of those that the user brought, as their files have them

    def over_user_kernel(self, attempt: Attempt | None) -> float | None:
        """Speed-up over what the user brought, as it was written; None where that is nothing, or of another kind."""
        return _ratio(self.user_kernel, self.user_kernel.default_us if self.user_kernel else None, attempt)

    def over_best(self, attempt: Attempt | None) -> float | None:
        """Speed-up over the best seed; None unless both have a time of the same kind."""
        return _ratio(self.best, self.best.geomean_us if self.best else None, attempt)

    def over_naive(self, attempt: Attempt | None) -> float | None:
        """Speed-up over the naive seed; None unless both have a time of the same kind."""
        return _ratio(self.naive, self.naive.default_us if self.naive else None, attempt)


def yardsticks(attempts: Sequence[Attempt], ledger: Ledger) -> Yardsticks:
    """Find the seeds of a run that its best kernel is told against."""
    seeds = [a for a in attempts if a.generation == 0]
    naive = next((a for a in seeds if a.status == "accepted"), None)
    user_ids = {e.id for run_id in {a.run_id for a in seeds} for e in ledger.experiments(run_id, 0) if e.is_given}
    user_kernels = [a for a in seeds if a.experiment_id in user_ids and a.status == "accepted" and a.default_us]
    fastest = min(user_kernels, key=lambda a: (a.default_us, a.id), default=None)
    return Yardsticks(naive, best_attempt(retuned(attempts), ledger), fastest)


def retuned(attempts: Sequence[Attempt]) -> list[Attempt]:
    """List the kernels of generation 0, and those that are one of them with other tunables: no idea is in those."""
    texts, retunings = set[str](), list[Attempt]()
    for attempt in attempts:
        if attempt.generation == 0 or (attempt.draft and attempt.draft in texts):
            retunings.append(attempt)
            texts |= {attempt.source, attempt.draft} - {""}
    return retunings


def _ratio(seed: Attempt | None, seed_us: float | None, attempt: Attempt | None) -> float | None:
    if seed is None or attempt is None or not seed_us or not attempt.geomean_us:
        return None
    return seed_us / attempt.geomean_us if seed.time_kind == attempt.time_kind else None
