"""The search of a file's tunables: a spread start, a surrogate that says what to estimate next, then neighbours.

The default is timed first, once. The start spreads over the space. Then each estimate goes where the expected gain is
highest (Jones, Schonlau and Welch 1998), times the chance that the compiler takes it. Where nothing is expected, the
neighbours of the best choice and of the default have the last word: a tunable at a time, so that one that never
mattered is known as such. docs/tuner.md has the sources and what it was measured against.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from records.quantity import given
from records.ranking import LEAST_GAIN
from sandbox.candidate.surrogate import JITTER, NOISE, Floats, Indices, Surrogate

Choice = Mapping[str, int]

SPREAD = 3  # estimates of the start, the default included: the surrogate spreads by itself from there
CLEAR = 1.01  # a gain for which patience begins again
LEAST = 12  # estimates before a search can be sure
LIKELY = 0.6  # of the best chance
DIGITS = 6  # of an expected gain that count, so that every machine takes the same choice


@dataclass(frozen=True)
class Timing:
    """The answer to one estimate; no time where the choice was refused."""

    time_us: float | None
    low_us: float = 0.0  # ends of the interval of a measured time; 0 where it is predicted
    high_us: float = 0.0

    def is_faster(self, other: Timing) -> bool:
        """Tell whether the gain is one: the least gain at least, and where times are measured the intervals apart."""
        if self.time_us is None or other.time_us is None:
            return self.time_us is not None
        if self.high_us and other.low_us:
            return self.high_us < other.low_us and self.time_us < other.time_us
        return other.time_us >= self.time_us * (1 + LEAST_GAIN)


Estimate = Callable[[Choice], Timing]


class Search:
    """One search. The same arguments ask for the same estimates in the same order."""

    def __init__(
        self,
        choices: Sequence[Choice],
        estimate: Estimate,
        limit: int,
        seed: int,
        unused: frozenset[str] = frozenset(),
        quantities: Sequence[Sequence[float]] = (),
        is_thorough: bool = False,
        patience: int = 0,
        prior_readings: Mapping[int, Timing] | None = None,
    ) -> None:
        """`choices[0]` is the default; `unused` are tunables that cannot matter.

        `quantities` has for each choice what follows from several tunables, such as the threads of a block. A thorough
        search goes on until the limit, however sure it is. One with patience ends after so many estimates that together
        gained less than `CLEAR`: an exploration goes on from there. `prior_readings` are of a kernel like this
        one, by the index of the choice: they teach, are not asked for again, and do not count.
        """
        self.choices = choices
        self.readings: dict[int, Timing] = dict(prior_readings or {})
        self._estimate = estimate
        self._limit = limit + len(self.readings)
        self._random = random.Random(seed)
        self._is_thorough = is_thorough
        self._patience = patience
        self._varied = [n for n in choices[0] if len({c[n] for c in choices}) > 1]
        self._names = [n for n in self._varied if n not in unused]
        read_keys = {self._key(index) for index in self.readings}
        self._unread = [index for index in self._distinct() if self._key(index) not in read_keys]
        columns = [[choice[name] for choice in choices] for name in self._names]
        self._tunable_coordinates = coordinates(columns, len(choices))
        self._coordinates = np.hstack(
            [self._tunable_coordinates, coordinates(list(zip(*quantities, strict=True)), len(choices))]
        )

    def run(self, starts: Sequence[Choice] = ()) -> None:
        """Estimate until the limit is reached, nothing is left, or nothing more is expected."""
        for start in ({}, *starts):
            self._visit(closest(self.choices, start))
        while self._unread and len(self.readings) < min(self._limit, SPREAD):
            self._visit(self._farthest())
        while len(self.readings) < self._limit and not self._is_stale():
            index = self._next_choice() if self._unread else None
            if index is None and not self._is_thorough:
                index = next(self._neighbours(), None)
            if index is None:
                return
            self._visit(index)

    def _is_stale(self) -> bool:
        """Tell whether patience is over."""
        times = [given(reading.time_us, math.inf) for reading in self.readings.values()]
        if not self._patience or len(times) <= self._patience:
            return False
        return min(times[: -self._patience]) < CLEAR * min(times)

    def ranked(self) -> list[int]:
        """Rank the timed choices, fastest first; those that gain nothing that counts stay behind the default."""
        timed = [i for i, reading in self.readings.items() if reading.time_us is not None]
        if not timed:
            return []
        fastest = self.readings[min(timed, key=self._time)]
        ties = {i for i in timed if not fastest.is_faster(self.readings[i])}
        changes = {i: 0 if fastest.high_us else self._changes(i, 0) for i in ties}
        return sorted(timed, key=lambda i: (i not in ties, i in ties and i > 0, changes.get(i, 0), self._time(i), i))

    def _time(self, index: int) -> float:
        return given(self.readings[index].time_us, math.inf)

    def _visit(self, index: int) -> None:
        if index not in self.readings and len(self.readings) < self._limit:
            self.readings[index] = self._estimate(self.choices[index])
            key = self._key(index)
            self._unread = [i for i in self._unread if self._key(i) != key]

    def _key(self, index: int) -> tuple[int, ...]:
        return tuple(self.choices[index][name] for name in self._names)

    def _distinct(self) -> list[int]:
        """List the first choice of each combination of the tunables that can matter."""
        return list({self._key(i): i for i in reversed(range(len(self.choices)))}.values())[::-1]

    def _farthest(self) -> int:
        """Of a sample of what is left, the choice farthest from all that were asked for."""
        sample = self._random.sample(self._unread, max(min(8, len(self._unread)), len(self._unread) // 4))
        estimated = self._tunable_coordinates[list(self.readings)]
        apart = np.abs(self._tunable_coordinates[sample][:, None] - estimated[None]).sum(2).min(1)
        return sample[int(np.argmax(np.round(apart, DIGITS)))]

    def _next_choice(self) -> int | None:
        """Find the choice of the highest expected gain; None where no gain is expected."""
        timed = [i for i, reading in self.readings.items() if reading.time_us is not None]
        indices = np.asarray(self._unread, np.intp)
        if not timed:
            return self._farthest()
        if len(timed) == 1:
            likely = self._chances(Surrogate(self._coordinates), indices) * np.ones(len(indices))
            return self._unread[int(np.argmax(np.round(likely, DIGITS)))]
        logs = np.log([given(self.readings[i].time_us, 1.0) for i in timed])
        is_measured = any(self.readings[i].high_us > self.readings[i].low_us for i in timed)
        model = Surrogate(self._coordinates, NOISE if is_measured else JITTER)
        warped = by_rank(logs)
        model.learn(timed, warped)
        gains = expected_gain(*model.foretell(warped, indices), float(warped.min()))
        gains *= self._chances(model, indices)
        if not self._is_thorough and len(self.readings) >= LEAST and self._is_sure(model, logs, indices):
            return None
        top = float(gains.max())
        return self._unread[int(np.argmax(np.round(gains / top, DIGITS)))] if top > 0 else self._farthest()

    def _chances(self, model: Surrogate, indices: Indices) -> Floats | float:
        """Estimate each choice's chance to be taken; where most are refused, 0 for those that are not the likeliest."""
        accepted = np.asarray([float(r.time_us is not None) for r in self.readings.values()])
        if accepted.all():
            return 1.0
        chances = model.chance(list(self.readings), accepted, indices)
        return np.where(chances >= LIKELY * chances.max(), chances, 0.0) if accepted.mean() < 0.5 else chances

    def _is_sure(self, model: Surrogate, logs: Floats, indices: Indices) -> bool:
        """Tell whether no choice that is left is expected to gain what counts as a gain."""
        spread = float(logs.std())
        if spread == 0.0:
            return True
        mean, deviation = model.foretell((logs - logs.mean()) / spread, indices)
        gains = expected_gain(mean, deviation, float((logs.min() - logs.mean()) / spread)) * self._chances(
            model, indices
        )
        return float(gains.max()) * spread < LEAST_GAIN

    def _neighbours(self) -> Iterator[int]:
        """Yield the next values of each tunable to both sides of the best choice's, where none was asked for yet.

        Then, for those that made no difference so far, another value beside the default: two places say more than one.
        """
        best = min(self.readings, key=lambda i: (self._time(i), i))
        for name in self._varied:
            beside = self._choices_beside(best, name)
            if name not in self._names:  # that cannot matter: one look, so that it can be said
                beside = beside[:1] if not any(i in self.readings for i in beside) else []
            yield from (i for i in self._nearest(beside, best, name) if i not in self.readings)
        for name in self._names:
            beside = self._choices_beside(0, name)
            if beside and not any(i in self.readings for i in beside) and self._is_inert(name):
                yield beside[-1]

    def _choices_beside(self, home: int, name: str) -> list[int]:
        """List the choices that differ from this one in one tunable alone."""
        return [i for i in range(len(self.choices)) if self._differs_in(i, home, name)]

    def _nearest(self, beside: Sequence[int], home: int, name: str) -> list[int]:
        """Of these, the one with the next lower value and the one with the next higher."""
        value = self.choices[home][name]
        lower = [i for i in beside if self.choices[i][name] < value]
        higher = [i for i in beside if self.choices[i][name] > value]
        below = max(lower, key=lambda i: self.choices[i][name], default=None)
        above = min(higher, key=lambda i: self.choices[i][name], default=None)
        return [i for i in (below, above) if i is not None]

    def _is_inert(self, name: str) -> bool:
        """Tell whether no two readings that differ in this tunable alone differ in time."""
        indices = list(self.readings)
        pairs = [(i, j) for n, i in enumerate(indices) for j in indices[:n] if self._differs_in(i, j, name)]
        read = self.readings
        return bool(pairs) and not any(read[i].is_faster(read[j]) or read[j].is_faster(read[i]) for i, j in pairs)

    def _differs_in(self, first: int, second: int, name: str) -> bool:
        return self.choices[first][name] != self.choices[second][name] and self._changes(first, second) == 1

    def _changes(self, first: int, second: int) -> int:
        return sum(self.choices[first][n] != value for n, value in self.choices[second].items())


def closest(choices: Sequence[Choice], wish: Choice) -> int:
    """Find the first choice that agrees with `wish` in most names; the default for an empty one."""
    return max(range(len(choices)), key=lambda i: (sum(choices[i].get(n) == v for n, v in wish.items()), -i))


def coordinates(columns: Sequence[Sequence[float]], count: int) -> Floats:
    """Columns from 0 to 1, in the logarithm where values grow by factors; one that never changes is left out."""
    scaled = []
    for column in columns:
        values = np.asarray(column, np.float64)
        if values.min() > 0 and values.max() >= 4 * values.min():
            values = np.log2(values)
        elif values.min() >= 0 and values.max() >= 4:
            values = np.log2(1 + values)
        if values.max() > values.min():
            scaled.append(np.round((values - values.min()) / (values.max() - values.min()), DIGITS))
    return np.stack(scaled, axis=1) if scaled else np.zeros((count, 0))


def by_rank(values: Floats) -> Floats:
    """Each value as the normal quantile of its rank, ties alike: a few very slow choices do not hide the rest."""
    ordered = np.sort(values)
    ranks = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2
    return np.asarray([NormalDist().inv_cdf(float(rank) / len(values)) for rank in ranks])


def expected_gain(mean: Floats, deviation: Floats, best: float) -> Floats:
    """Compute the expected improvement over the best target, which is the lowest."""
    scaled = (best - mean) / deviation
    below = np.asarray([0.5 * math.erfc(-float(s) / math.sqrt(2)) for s in scaled])
    return np.asarray(deviation * (scaled * below + np.exp(-(scaled**2) / 2) / math.sqrt(2 * math.pi)))
