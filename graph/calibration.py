"""Comparison of the planner's predicted gains with those found: one paragraph that goes back to the planner."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from statistics import median

from records.quantity import counted
from records.ranking import is_slight

NARROW_PCT = 10.0  # a range that is wider, and wider than its own lower end, holds almost any gain: it is no forecast
ENOUGH = 3  # verified experiments before a correction is worth stating


@dataclass(frozen=True)
class Forecast:
    """One experiment: the predicted range and the gain found, both in percent of the parent's speed."""

    gain_min_pct: float
    gain_max_pct: float
    found_pct: float | None  # None: the kernel never worked

    @property
    def is_wide(self) -> bool:
        """True where the range is too wide to be right or wrong."""
        return self.gain_max_pct - self.gain_min_pct > max(NARROW_PCT, self.gain_min_pct)


@dataclass
class Calibration:
    """Counts over the outcomes added so far."""

    failed: int = 0
    inside: int = 0  # of a range that is a forecast
    wide: int = 0  # inside one that is none
    below: int = 0
    above: int = 0
    errors_pct: list[float] = field(default_factory=list)  # found minus the middle of the range, in ascending order

    def add(self, outcome: Forecast) -> None:
        """Count where one found gain lies."""
        found_pct = outcome.found_pct
        if found_pct is None:
            self.failed += 1
            return
        is_below, is_above = found_pct < outcome.gain_min_pct, found_pct > outcome.gain_max_pct
        self.below += is_below
        self.above += is_above
        is_inside = not (is_below or is_above)
        self.wide += is_inside and outcome.is_wide
        self.inside += is_inside and not outcome.is_wide
        insort(self.errors_pct, found_pct - (outcome.gain_min_pct + outcome.gain_max_pct) / 2)

    @property
    def verified(self) -> int:
        """Experiments that gave a working kernel."""
        return len(self.errors_pct)

    @property
    def bias_pct(self) -> float:
        """Median of found minus the middle of the range."""
        return median(self.errors_pct) if self.errors_pct else 0.0

    @property
    def coverage(self) -> float:
        """Share of the verified experiments whose gain lay in a range that is a forecast."""
        return self.inside / self.verified if self.verified else 0.0


def gain_pct(parent_us: float, child_us: float) -> float:
    """Gain in percent of the parent's speed: 100 is twice as fast, -50 half as fast."""
    return 100.0 * (parent_us / child_us - 1.0)


def counted_gain(gain_pct: float | None, error: float) -> float | None:
    """Compute a gain as far as it counts: nothing where it lies within the clock's error."""
    return 0.0 if gain_pct is not None and is_slight(gain_pct, error) else gain_pct


def paragraph(c: Calibration) -> str:
    """Put the planner's own record in words; empty before anything was tried."""
    if not c.verified + c.failed:
        return ""
    text = f"Of {counted(c.verified + c.failed, 'experiment')} so far {c.failed} never gave a working kernel."
    if not c.verified:
        return text
    text += (
        f" Of the {c.verified} that worked, {c.inside} gained what had been predicted, {c.below} less, {c.above} "
        f"more{_wide_text(c)} (coverage {100 * c.coverage:.0f} %); the median gain lay "
        f"{_points(c, 'percentage point')} {'below' if c.bias_pct < 0 else 'above'} the middle of the predicted range."
    )
    if c.verified >= ENOUGH and c.wide > c.inside:
        text += f" Narrow your ranges to {NARROW_PCT:g} points, or to their lower end: a wider one says nothing."
    if c.verified >= ENOUGH and c.below > c.inside + c.wide:
        text += f" Your predictions are too high: lower them by about {_points(c)}."
    elif c.verified >= ENOUGH and c.above > c.inside + c.wide:
        text += f" Your predictions are too low: raise them by about {_points(c)}."
    return text


def _wide_text(c: Calibration) -> str:
    return f", {c.wide} something within a range too wide to be a forecast" if c.wide else ""


def _points(c: Calibration, noun: str = "point") -> str:
    return counted(round(abs(c.bias_pct)), noun)
