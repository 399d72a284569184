"""The parts of a gain: what the tuner's choice gave, what the idea gave, and which tunables never mattered.

All of it rests on the estimates that the tuner made, so that it costs no further question. A part is a ratio of two
estimates of one file, or of two benchmarks; an estimate is never compared with a benchmark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeGuard

from graph.calibration import gain_pct
from records.evaluation import Evaluation
from records.experiment import Attempt, Credit
from records.ranking import LEAST_GAIN, interval_of
from sandbox.candidate.prepare import Prepared
from sandbox.walk import Ask, Purpose

Choice = Mapping[str, int]


@dataclass(frozen=True)
class Estimated:
    """One choice of tunables of a file with its estimate, in microseconds."""

    tunables: Choice
    time_us: float
    low_us: float  # ends of the interval; all three are equal where the time is predicted
    high_us: float


@dataclass
class Notes:
    """The estimates that one search of tunables asked for."""

    ask: Ask
    estimates: list[Estimated] = field(default_factory=list)

    def __call__(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        """Ask, and note an estimate that was accepted."""
        evaluation = self.ask(purpose, prepared)
        time_us = evaluation.geomean_us
        if purpose == "estimate" and evaluation.verdict.accepted and is_time(time_us):
            self.estimates.append(Estimated(dict(prepared.tunables), time_us, *interval_of(evaluation)))
        return evaluation


def is_time(time_us: float | None) -> TypeGuard[float]:
    """Tell whether a value is a time that a ratio can be made of, whatever evaluator it comes from."""
    return time_us is not None and math.isfinite(time_us) and time_us > 0


def credit_of(attempt: Attempt, parent: Attempt | None, default: Choice, estimates: Sequence[Estimated]) -> Credit:
    """Return the parts of an accepted attempt's gain; `default` are the tunables of its file as it was written."""
    if not attempt.geomean_us:
        return Credit()
    chosen, plain = estimate_of(estimates, attempt.tunables), estimate_of(estimates, default)
    tuner = 0.0 if dict(attempt.tunables) == dict(default) else None
    if chosen is not None and plain is not None:
        tuner = gain_pct(plain.time_us, chosen.time_us)
    if parent is None or not parent.geomean_us or parent.time_kind != attempt.time_kind:
        return Credit(tuner)
    idea, equal = gain_pct(parent.geomean_us, attempt.geomean_us), None
    shared = shared_choice(default, parent.tunables)
    if shared == dict(attempt.tunables):
        equal = idea
    elif shared is not None and chosen is not None and (at_parents := estimate_of(estimates, shared)) is not None:
        equal = gain_pct(parent.geomean_us, attempt.geomean_us * at_parents.time_us / chosen.time_us)
    return Credit(tuner, idea, equal)


def shared_choice(default: Choice, parents: Choice) -> dict[str, int] | None:
    """Return a file's tunables at its parent's values, its own new ones at their defaults.

    It is None where it dropped one.
    """
    return {**default, **parents} if parents.keys() <= default.keys() else None


def inert_of(estimates: Sequence[Estimated]) -> tuple[str, ...]:
    """Find the tunables that were varied alone and made no difference in any such pair."""
    mattered, varied = set[str](), set[str]()
    for left, right in combinations(estimates, 2):
        apart = [name for name, value in left.tunables.items() if right.tunables.get(name) != value]
        if len(apart) == 1:
            varied.add(apart[0])
            if _differ(left, right):
                mattered.add(apart[0])
    return tuple(sorted(varied - mattered))


def _differ(left: Estimated, right: Estimated) -> bool:
    """Tell whether the intervals lie apart, by the least gain where there is none."""
    first, last = sorted((left, right), key=lambda e: e.time_us)
    return last.low_us >= first.high_us * (1 + LEAST_GAIN)


def estimate_of(estimates: Sequence[Estimated], choice: Choice) -> Estimated | None:
    """Find the estimate of this choice; None where nobody asked for it."""
    return next((e for e in estimates if dict(e.tunables) == dict(choice)), None)
