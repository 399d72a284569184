"""Gains on other branches of the search: changes that were found to help, and that the kernel in hand does not have.

Of a generation's experiments one kernel leads; what the others gained is lost unless somebody brings it over. So it is
offered again: with the gain that was found, which nobody has to predict, and with the kernel that has the change to
learn from. Changes by different mechanisms are offered together, as their gains multiply where nothing else binds, and
alone where nothing right came of that.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from graph.calibration import gain_pct
from graph.sameness import Sameness
from records.experiment import Attempt, Experiment, Proposed
from records.ranking import is_slight

MOST, JOINED = 6, 3  # offered at a time, those that gained most; changes in one experiment
KEPT = 40  # gains that are remembered, the newest


class Siblings:
    """The changes of a run that clearly gained, each with the kernel that has it."""

    def __init__(self, sameness: Sameness) -> None:
        """Nothing was gained yet."""
        self._sameness = sameness
        self._gains: dict[str, Proposed] = {}  # by the attempt that has the change
        self._begun = set[str]()  # titles of experiments

    def add(self, experiment: Experiment, attempt: Attempt, parent_us: float) -> None:
        """Add what an experiment gained over its parent; explorations and an author's own moves are searched again."""
        if experiment.move or experiment.explores or not experiment.parent_id or not attempt.geomean_us:
            return
        found_pct = gain_pct(parent_us, attempt.geomean_us)
        if attempt.credit.shown_pct is not None:
            found_pct = attempt.credit.shown_pct
        if found_pct <= 0 or is_slight(found_pct, attempt.time_error):
            return
        self._gains[attempt.id] = Proposed(
            experiment.run_id,
            experiment.generation,
            experiment.parent_id,
            title_of(experiment.title, attempt.id),
            experiment.description,
            experiment.rubric,
            found_pct,
            found_pct,
            mechanism=experiment.mechanism,
            reference_id=attempt.id,
        )
        for oldest in list(self._gains)[:-KEPT]:
            del self._gains[oldest]

    def forget_tried(self, experiment: Experiment, is_written: bool) -> None:
        """Take out what an experiment has brought over or made again; nothing where nobody wrote it."""
        self._begun.add(experiment.title)
        if not is_written:
            return
        for attempt_id, gain in list(self._gains.items()):
            change = replace(gain, title=_plain(gain.title))
            if gain.generation < experiment.generation and self._sameness.is_tried_by(experiment, change):
                del self._gains[attempt_id]

    def beside(self, ancestors: Collection[str]) -> Sequence[Proposed]:
        """List what a kernel does not have of itself or its ancestors: several together, else the largest first."""
        gains = [gain for attempt_id, gain in self._gains.items() if attempt_id not in ancestors]
        gains.sort(key=lambda gain: -gain.gain_max_pct)
        by_mechanism = {gain.mechanism: gain for gain in reversed(gains)}
        parts = sorted(by_mechanism.values(), key=lambda gain: -gain.gain_max_pct)[:JOINED]
        joint = _joined(parts) if len(parts) > 1 else None
        offered = gains[:MOST] if joint is None or joint.title in self._begun else [joint]
        return [gain for gain in offered if gain.title not in self._begun]


def _joined(parts: Sequence[Proposed]) -> Proposed:
    """Make one proposal of several, whose gains multiply; the mechanism is that of the largest."""
    first, gain = parts[0], 100 * (math.prod(1 + p.gain_max_pct / 100 for p in parts) - 1)
    others = "; ".join(f"{_plain(p.title)} is from {p.reference_id}" for p in parts[1:])
    return replace(
        first,
        title=title_of(" and ".join(_plain(p.title) for p in parts), first.reference_id),
        description=f"{first.description} Together with it: {others}.",
        rubric=tuple(line for p in parts for line in p.rubric),
        gain_min_pct=gain,
        gain_max_pct=gain,
    )


def title_of(title: str, attempt_id: str) -> str:
    """Name the experiment that brings a change over."""
    return f"{_plain(title)} (as in {attempt_id})"


def _plain(title: str) -> str:
    return title.partition(" (as in ")[0]
