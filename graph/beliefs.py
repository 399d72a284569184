"""What a run believes of an idea: the time it would save on the kernel in hand, from what was predicted and found.

A predicted gain belongs to the kernel that it was predicted on. On a later base it counts as it stands where nothing on
the way there used the idea's mechanism; else as far as the time that it promised lies below the base's. No gain passes
what the roofline leaves. Gains are logarithms of a ratio of times, so that they add.

How far to trust a prediction is learnt from the experiments so far: the found gain is taken as `trust` times the
predicted one with a normal error, and `trust` has a normal prior; first that of the run, and of each mechanism the
run's, which its own experiments move (a conjugate update). Whether a right kernel comes of an idea at all is the
writer's matter: a share with a Beta(3, 1) prior, of the run. Evidence of which nobody learns anything, as of a writer
that gave no kernel, moves the second and never the first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from records.mechanism import Mechanism

LEAST_PCT = 0.5  # gain that is worth an experiment
TRUST, TRUST_SPREAD = 0.6, 0.5  # of a planner's gains before anything was tried: most are too high
MECHANISM_SPREAD = 0.3  # of a mechanism's trust about the run's
NOISE = 0.3  # of a found gain, as the logarithm of a ratio of times
TOLD = 6  # experiments of a mechanism that are told one by one, the latest
WRITTEN, FAILED = 3.0, 1.0  # of the Beta prior: three of four ideas become a right kernel


@dataclass(frozen=True)
class Promise:
    """A gain that was predicted, as logarithms of ratios of times: at least, at most."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The gain half-way."""
        return (self.low + self.high) / 2

    @property
    def low_pct(self) -> float:
        """The least gain in percent."""
        return round(100 * math.expm1(self.low), 6)

    @property
    def high_pct(self) -> float:
        """The largest gain in percent."""
        return round(100 * math.expm1(self.high), 6)

    @classmethod
    def of(cls, gain_min_pct: float, gain_max_pct: float) -> Promise:
        """Read a range in percent of the base's speed."""
        return cls(_log_gain(gain_min_pct), _log_gain(max(gain_min_pct, gain_max_pct)))

    def within(self, most: float) -> Promise:
        """Cut it at the gain that is left."""
        return Promise(min(self.low, most), min(self.high, most))

    def lowered(self, gained: float) -> Promise:
        """Take away what another change has gained since."""
        return Promise(self.low - gained, self.high - gained)


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A verified kernel, as far as later ones need it: all of a run's are held."""

    parent_id: str | None
    time_us: float
    mechanism: Mechanism  # by which its change was to gain


@dataclass(frozen=True)
class Base:
    """The kernel in hand: its time, the least that a kernel of its task could take, and how it came from others."""

    time_us: float
    least_us: float  # 0 where no roofline is known
    times_us: Mapping[str, float]  # of all verified kernels
    used: Mapping[str, frozenset[Mechanism]]  # by kernel that it was made from: mechanisms of the changes since then

    @property
    def room(self) -> float:
        """The largest gain that the roofline leaves, as a logarithm; without end where no roofline is known."""
        return math.log(max(1.0, self.time_us / self.least_us)) if self.least_us > 0 else math.inf


@dataclass(frozen=True)
class Expectation:
    """What an idea is expected to do on the base: gains in percent of its speed, and the time saved at the mean."""

    gain_min_pct: float
    gain_max_pct: float
    saved_us: float

    @property
    def is_worth_trying(self) -> bool:
        """True where the best that may come of it is a gain worth an experiment."""
        return self.gain_max_pct >= LEAST_PCT


@dataclass
class Trust:
    """A normal belief of by how much predicted gains are to be multiplied."""

    mean: float
    variance: float

    def learn(self, predicted: float, found: float) -> None:
        """Update by one experiment."""
        if predicted == 0:
            return
        precision = 1 / self.variance + predicted * predicted / NOISE**2
        self.mean = (self.mean / self.variance + predicted * found / NOISE**2) / precision
        self.variance = 1 / precision


@dataclass
class MechanismRecord:
    """The experiments of one mechanism so far."""

    tried: int = 0
    unwritten: int = 0  # of them: no right kernel came of them
    predicted: list[float] = field(default_factory=list)
    found: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        """One line: how many, and what they gave beside what had been predicted."""
        if not self.found:
            return f"{self.tried} tried, none became a right kernel"
        pairs = ", ".join(
            f"{100 * math.expm1(found):+.0f} % ({100 * math.expm1(predicted):+.0f} % predicted)"
            for predicted, found in list(zip(self.predicted, self.found, strict=True))[-TOLD:]
        )
        return f"{self.tried} tried: {pairs}" + (f"; {self.unwritten} became no right kernel" if self.unwritten else "")


class Beliefs:
    """All evidence of a run."""

    def __init__(self) -> None:
        """Nothing was tried yet."""
        self._run = Trust(TRUST, TRUST_SPREAD**2)
        self._evidence: dict[Mechanism, MechanismRecord] = defaultdict(MechanismRecord)
        self._written, self._failed = WRITTEN, FAILED

    def add(self, mechanism: Mechanism, promise: Promise, found: float | None) -> None:
        """Add one experiment's outcome; None where the writer gave no right kernel."""
        evidence = self._evidence[mechanism]
        evidence.tried += 1
        if found is None:
            evidence.unwritten += 1
            self._failed += 1
            return
        self._written += 1
        evidence.predicted.append(promise.middle)
        evidence.found.append(found)
        self._run.learn(promise.middle, found)

    @property
    def success(self) -> float:
        """The share of ideas of which a right kernel comes."""
        return self._written / (self._written + self._failed)

    @property
    def evidence(self) -> Mapping[Mechanism, MechanismRecord]:
        """What was tried, by mechanism."""
        return dict(self._evidence)

    def trust(self, mechanism: Mechanism) -> float:
        """By how much a gain that is predicted of this mechanism is to be multiplied."""
        trust = Trust(self._run.mean, MECHANISM_SPREAD**2)
        evidence = self._evidence.get(mechanism)
        for predicted, found in zip(evidence.predicted, evidence.found, strict=True) if evidence else ():
            trust.learn(predicted, found)
        return max(0.0, trust.mean)

    def expected(
        self, mechanism: Mechanism, promise: Promise, planned_on: str, base: Base, is_found: bool = False
    ) -> Expectation:
        """Tell what an idea is expected to do on the base.

        Its gain was predicted, or found (`is_found`), on the kernel `planned_on`.
        """
        before, used = base.times_us.get(planned_on), base.used.get(planned_on)
        is_independent = used is not None and (not used or (bool(mechanism) and not used & {mechanism, ""}))
        if before is not None and not is_independent:
            promise = promise.lowered(max(0.0, math.log(before / base.time_us)))
        promise = promise.within(base.room)
        trust = 1.0 if is_found else self.trust(mechanism)
        gain = min(base.room, trust * promise.middle) if promise.middle > 0 else promise.middle
        saved_us = self.success * base.time_us * -math.expm1(-gain)
        return Expectation(promise.low_pct, promise.high_pct, saved_us)


def _log_gain(gain_pct: float) -> float:
    return math.log1p(max(gain_pct, -99.0) / 100)
