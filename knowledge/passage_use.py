"""The use of passages over all runs of a ledger: what became of the experiments that read them, with intervals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from records.evaluation import Stage
from records.literature import Shown
from records.mean_interval import Difference, difference

if TYPE_CHECKING:
    from records.experiment import Attempt
    from records.ledger import Ledger

STAGES: tuple[str, ...] = get_args(Stage)
Z = 1.96
STEP = 1.15  # by which a passage's score rises or falls for each rate that its interval puts above or below the rest's


@dataclass(frozen=True)
class PassageUse:
    """One passage in one experiment, and the experiment's outcome."""

    passage: Shown
    run_id: str
    experiment_id: str
    roles: tuple[str, ...]  # that read it there
    is_cited: bool
    is_accepted: bool
    gain_pct: float | None  # over its parent, both tuned; None where it was not accepted
    is_repaired: bool | None  # whether the draft after the reading got further; None where no repair read it


@dataclass(frozen=True)
class Rate:
    """A share with Wilson's interval of 95 %."""

    count: int
    of: int

    @property
    def share(self) -> float:
        """The share itself; 0 of nothing is 0."""
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends; of nothing all is possible."""
        if not self.of:
            return 0.0, 1.0
        n, p, z2 = self.of, self.share, Z * Z
        middle, half = p + z2 / (2 * n), Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return max(0.0, (middle - half) / (1 + z2 / n)), min(1.0, (middle + half) / (1 + z2 / n))

    @property
    def text(self) -> str:
        """For people: `3 of 4 (30 to 95 %)`."""
        low, high = self.interval
        return f"{self.count} of {self.of} ({100 * low:.0f} to {100 * high:.0f} %)" if self.of else "-"


@dataclass(frozen=True)
class UseRow:
    """The use of one passage or of one document."""

    key: str
    title: str
    section: str  # empty for a document
    experiments: int
    cited: int
    accepted: Rate
    gains_pct: tuple[float, ...]  # of the accepted experiments
    repaired: Rate

    @property
    def gain_pct(self) -> Difference | None:
        """The mean gain with its interval; None of fewer than two."""
        return difference(self.gains_pct) if len(self.gains_pct) > 1 else None

    @property
    def plain(self) -> dict[str, Any]:
        """For JSON."""
        gain = self.gain_pct
        return {
            "id": self.key,
            "title": self.title,
            "section": self.section,
            "experiments": self.experiments,
            "cited": self.cited,
            "accepted": _plain_rate(self.accepted),
            "gains_pct": list(self.gains_pct),
            "gain_pct": None if gain is None else {"mean": gain.mean, "low": gain.low, "high": gain.high},
            "repaired": _plain_rate(self.repaired),
        }


def uses_of(ledger: Ledger, run_id: str) -> tuple[PassageUse, ...]:
    """Every passage that an experiment of this run has read, in the order of the experiments."""
    attempts: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in ledger.attempts(run_id):
        attempts[attempt.experiment_id].append(attempt)
    cites = {e.id: set(e.cites) for e in ledger.experiments(run_id)}
    uses: dict[tuple[str, str], PassageUse] = {}
    for reading in ledger.readings(run_id):
        experiment_attempts = attempts.get(reading.experiment_id)
        if not experiment_attempts:
            continue
        accepted = next((a for a in experiment_attempts if a.status == "accepted"), None)
        repaired = _got_further(experiment_attempts, reading.number) if reading.role == "repairer" else None
        for passage in reading.shown:
            key = (reading.experiment_id, passage.passage)
            roles = (*uses[key].roles, reading.role) if key in uses else (reading.role,)
            is_cited = passage.passage in cites.get(reading.experiment_id, set())
            gain = accepted.credit.idea_pct if accepted else None
            uses[key] = PassageUse(
                passage, run_id, reading.experiment_id, roles, is_cited, accepted is not None, gain, repaired
            )
    return tuple(uses.values())


def all_uses(ledger: Ledger) -> tuple[PassageUse, ...]:
    """List the uses of every run in the ledger."""
    return tuple(use for run in ledger.runs() for use in uses_of(ledger, run.id))


def by_passage(uses: Iterable[PassageUse]) -> list[UseRow]:
    """Make a row for each passage, the most used first."""
    return _rows(uses, lambda u: u.passage.passage, with_section=True)


def by_document(uses: Iterable[PassageUse]) -> list[UseRow]:
    """Make a row for each document: an experiment that read several of its passages counts once."""
    return _rows(_once(uses, lambda u: u.passage.document), lambda u: u.passage.document, with_section=False)


def together(uses: Iterable[PassageUse]) -> UseRow | None:
    """One row for all experiments that read anything, by which to judge the others; None where none did."""
    rows = _rows(_once(uses, lambda u: ""), lambda u: "", with_section=False)
    return replace(rows[0], title="all of these experiments") if rows else None


def _once(uses: Iterable[PassageUse], key: Callable[[PassageUse], str]) -> list[PassageUse]:
    """One use for each key and experiment: cited and repaired where any of them was."""
    merged: dict[tuple[str, str, str], PassageUse] = {}
    for use in uses:
        use_key = (key(use), use.run_id, use.experiment_id)
        before = merged.get(use_key, use)
        is_repaired = use.is_repaired if before.is_repaired is None else before.is_repaired
        merged[use_key] = replace(before, is_cited=before.is_cited or use.is_cited, is_repaired=is_repaired)
    return list(merged.values())


def weights_of(uses: Sequence[PassageUse]) -> Mapping[str, float]:
    """Factors for the scores of passages: above 1 where one helped, below 1 where it misled, by intervals only.

    A rate counts where its interval lies wholly above or below that of the experiments that read something else.
    """
    weights = {}
    for row in by_passage(uses):
        other_uses = [u for u in uses if u.passage.passage != row.key]
        votes = _vote(row.accepted, _accepted(other_uses)) + _vote(row.repaired, _repaired(other_uses))
        gain = row.gain_pct
        if gain is not None:
            votes += (gain.low > 0.0) - (gain.high < 0.0)
        if votes:
            weights[row.key] = round(STEP**votes, 4)
    return weights


def _vote(rate: Rate, baseline: Rate) -> int:
    if not rate.of or not baseline.of:
        return 0
    low, high = rate.interval
    return int(low > baseline.share) - int(high < baseline.share)


def _rows(uses: Iterable[PassageUse], key: Callable[[PassageUse], str], with_section: bool) -> list[UseRow]:
    groups: dict[str, list[PassageUse]] = defaultdict(list)
    for use in uses:
        groups[key(use)].append(use)
    rows = []
    for name, group in groups.items():
        gains = tuple(u.gain_pct for u in group if u.gain_pct is not None)
        passage = group[0].passage
        rows.append(
            UseRow(
                name, passage.title, passage.section if with_section else "", len(group),
                sum(u.is_cited for u in group), _accepted(group), gains, _repaired(group),
            )
        )  # fmt: skip
    return sorted(rows, key=lambda r: (-r.experiments, r.title, r.key))


def _accepted(uses: Sequence[PassageUse]) -> Rate:
    return Rate(sum(u.is_accepted for u in uses), len(uses))


def _repaired(uses: Sequence[PassageUse]) -> Rate:
    outcomes = [u.is_repaired for u in uses if u.is_repaired is not None]
    return Rate(sum(outcomes), len(outcomes))


def _plain_rate(rate: Rate) -> dict[str, float]:
    low, high = rate.interval
    return {"count": rate.count, "of": rate.of, "low": low, "high": high}


def _got_further(attempts: Sequence[Attempt], number: int) -> bool | None:
    """Tell whether the draft after the refused one reached a later stage or was right; None where there is none."""
    by_number = {a.number: a for a in attempts}
    refused, after = by_number.get(number), by_number.get(number + 1)
    if refused is None or after is None:
        return None
    if after.code == "OK":  # right, or the same kernel as an earlier one
        return True
    reached = [STAGES.index(a.stage) if a.stage in STAGES else -1 for a in (refused, after)]
    return reached[1] > reached[0]
