"""Made-up windows of a GPU whose noise is known: for calibrating the rules of the judge where there is no GPU."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Noise:
    """The noise added to a kernel's time. Parts are of the time itself."""

    drift: float = 0.015  # standard deviation of a slow wave of clocks and heat
    memory: float = 0.995  # of the wave, from one window to the next
    jitter: float = 0.01  # one-sided: nothing ever makes a kernel faster
    spikes: float = 0.0  # chance of a window that is disturbed
    spike: float = 0.3  # mean of such a disturbance, exponential
    step_us: float = 0.0  # resolution of the clock, a call
    second_slower: float = 0.0  # the second window of a pair is slower by this
    wave: tuple[float, int] = (0.0, 6)  # a disturbance that comes every so many windows


MODELS: Mapping[str, Noise] = {
    "drift and jitter": Noise(),
    "spikes of 30 %": Noise(spikes=0.02),
    "steps of 32 ns at 5 us": Noise(step_us=0.032),
    "every sixth window slow": Noise(jitter=0.003, wave=(0.05, 6)),
    "the second of a pair slower": Noise(jitter=0.003, second_slower=0.02),
}


class Simulated:
    """Windows with that noise; a tag's factor says by how much its kernel is slower."""

    def __init__(
        self, noise: Noise, seed: int, factors: Mapping[str, float] | None = None, time_us: float = 5.0
    ) -> None:
        self._noise, self._factors, self._time_us = noise, dict(factors or {}), time_us
        self._rng = np.random.default_rng(seed)
        self._wave = float(self._rng.normal(0.0, noise.drift))
        self._taken = int(self._rng.integers(1000)) * 2

    def take(self, order: Sequence[str]) -> Sequence[float]:
        """Take the next windows."""
        return [self._one(tag) for tag in order]

    def _one(self, tag: str) -> float:
        noise, rng = self._noise, self._rng
        self._wave = noise.memory * self._wave + float(rng.normal(0.0, noise.drift * math.sqrt(1 - noise.memory**2)))
        time_us = self._time_us * self._factors.get(tag, 1.0) * math.exp(self._wave)
        time_us *= 1 + abs(float(rng.normal(0.0, noise.jitter))) + noise.second_slower * (self._taken % 2)
        if rng.random() < noise.spikes:
            time_us *= 1 + float(rng.exponential(noise.spike))
        height, period = noise.wave
        if height and self._taken % period == 0:
            time_us *= 1 + height
        self._taken += 1
        return time_us if not noise.step_us else max(1, round(time_us / noise.step_us)) * noise.step_us
