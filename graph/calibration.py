"""Comparison of the planner's predicted gains with those found: one paragraph that goes back to the planner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from records.quantity import counted

ENOUGH = 3  # verified experiments before a correction is worth stating


@dataclass(frozen=True)
class Forecast:
    """One experiment: the predicted range and the gain found, both in percent of the parent's speed."""

    gain_min_pct: float
    gain_max_pct: float
    found_pct: float | None  # None: the kernel never worked


@dataclass(frozen=True)
class Calibration:
    """Counts over all outcomes; `bias_pct` is the median of found minus the middle of the range."""

    verified: int
    failed: int
    inside: int
    below: int
    above: int
    bias_pct: float

    @property
    def coverage(self) -> float:
        """Share of the verified experiments whose gain lay in the predicted range."""
        return self.inside / self.verified if self.verified else 0.0


def gain_pct(parent_us: float, child_us: float) -> float:
    """Gain in percent of the parent's speed: 100 is twice as fast, -50 half as fast."""
    return 100.0 * (parent_us / child_us - 1.0)


def calibrate(outcomes: Sequence[Forecast]) -> Calibration:
    """Count where the found gains lie."""
    found = [(o, o.found_pct) for o in outcomes if o.found_pct is not None]
    below = sum(gain < o.gain_min_pct for o, gain in found)
    above = sum(gain > o.gain_max_pct for o, gain in found)
    errors = [gain - (o.gain_min_pct + o.gain_max_pct) / 2 for o, gain in found]
    return Calibration(
        len(found),
        len(outcomes) - len(found),
        len(found) - below - above,
        below,
        above,
        median(errors) if errors else 0.0,
    )


def paragraph(outcomes: Sequence[Forecast]) -> str:
    """The paragraph for the planner; empty before anything was tried."""
    if not outcomes:
        return ""
    c = calibrate(outcomes)
    text = f"Of {counted(len(outcomes), 'experiment')} so far {c.failed} never gave a working kernel."
    if not c.verified:
        return text
    text += (
        f" Of the {c.verified} that worked, {c.inside} gained what had been predicted, {c.below} less, {c.above} "
        f"more (coverage {100 * c.coverage:.0f} %); the median gain lay {_points(c, 'percentage point')} "
        f"{'below' if c.bias_pct < 0 else 'above'} the middle of the predicted range."
    )
    if c.verified >= ENOUGH and c.below > c.inside:
        text += f" Your predictions are too high: lower them by about {_points(c)}."
    elif c.verified >= ENOUGH and c.above > c.inside:
        text += f" Your predictions are too low: raise them by about {_points(c)}."
    return text


def _points(c: Calibration, noun: str = "point") -> str:
    return counted(round(abs(c.bias_pct)), noun)
