"""What a further generation on each region of a model is worth to the model: Amdahl's law, and how it went so far.

A region's share of the model's time and its gap to the roofline come from the scan; how near its best kernel is to the
roofline comes from its run. Both are ratios, so that no predicted time meets a measured one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

STEP = 0.01  # a generation that brings a kernel nearer by less counts as one without success
LOST_BELIEF = 0.5  # what is left of the belief in the rest after each generation without success


@dataclass(frozen=True)
class RegionState:
    """One task of a scan, for all the regions that it serves, and its run so far."""

    regions: tuple[str, ...]
    task: str
    share: float  # of the model's time, as the model is now
    gap: float  # that time over the roofline's; 0 where it is not known
    run: str = ""
    fractions: tuple[float, ...] = ()  # of the roofline that the best kernel reaches, after each generation
    usd: float = 0.0
    seconds: float = 0.0
    is_ended: bool = field(default=False, compare=False)  # its run cannot go on

    @property
    def fraction(self) -> float:
        """Return how much of the roofline is reached now; as the model does it where there is no kernel."""
        before = 1 / self.gap if self.gap > 1 else 0.0
        return max(self.fractions[-1] if self.fractions else 0.0, before)

    @property
    def gained(self) -> float:
        """Compute the share of the model's time that the best kernel saves."""
        if not self.fractions or self.gap <= 1:
            return 0.0
        return self.share * (1 - 1 / (self.gap * self.fraction))

    @property
    def rest(self) -> float:
        """Compute the share of the model's time, as it was, that the roofline leaves to be saved."""
        if self.is_ended or self.gap <= 1:
            return 0.0
        return self.share / self.gap * (1 / self.fraction - 1)

    @property
    def belief(self) -> float:
        """Return the part of the rest that is still expected: half as much after each generation that gave nothing."""
        steps = zip(self.fractions, self.fractions[1:], strict=False)
        failures = 0
        for before, after in steps:
            failures = 0 if after > before * (1 + STEP) else failures + 1
        return LOST_BELIEF**failures

    @property
    def expected(self) -> float:
        """Compute the share of the model's time that the rest is expected to give."""
        return self.rest * self.belief


def gain(states: Sequence[RegionState]) -> float:
    """Compute how many times as fast the model is by the kernels so far."""
    return 1 / max(1 - sum(state.gained for state in states), 1e-9)


def rest_gain(states: Sequence[RegionState]) -> float:
    """Compute what the model would gain further if everything expected came true."""
    now = 1 - sum(state.gained for state in states)
    return now / max(now - sum(state.expected for state in states), 1e-9)


def next_region(states: Sequence[RegionState]) -> RegionState | None:
    """Choose the region whose next generation is expected to give the model most for its cost; None at the end.

    A generation costs what those of the region cost on average; of a region without any, what all did. In dollars
    where any were spent, else in seconds.
    """
    open_states = [state for state in states if state.expected > 0]
    in_usd = any(state.usd for state in states)
    spent = [(state.usd if in_usd else state.seconds, len(state.fractions)) for state in states]
    total, count = sum(cost for cost, _ in spent), sum(n for _, n in spent)
    usual = total / count if total and count else 1.0

    def rate(state: RegionState) -> float:
        cost = state.usd if in_usd else state.seconds
        return state.expected / (cost / len(state.fractions) if cost and state.fractions else usual)

    return max(open_states, key=rate, default=None)
