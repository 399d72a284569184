"""A predictor of which of two kernels is faster, learnt from the estimates of a run: it spares those that would lose.

A Bayesian linear model of the logarithm of the time over what the text, the tunables and the launches are
(`agents/kernel_features.py`): a feature that never changed has the prior's whole variance, so that nothing new is ever
left out. What cannot be compiled teaches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.kernel_features import features
from sandbox.candidate.prepare import Prepared

WEIGHT = 0.5  # standard deviation of what a doubling of a feature does to the logarithm of the time
NOISE = 0.02  # the least standard deviation of what the features do not say
FEWEST = 8  # kernels below which nothing is foretold
SURE = 2.0  # standard deviations
ROUNDS = 3  # of fitting the noise
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PredictedRatio:
    """The logarithm of one kernel's time over another's."""

    mean: float
    deviation: float

    def surely_loses(self, factor: float) -> bool:
        """Tell whether even a lucky time would be longer than the other one by more than this factor."""
        return self.mean - SURE * self.deviation > math.log(factor)


class Predictor:
    """Knowledge of kernels for one task on one target. The same calls give the same answers."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._rows: list[Mapping[str, float]] = []
        self._times: list[float] = []
        self._names: tuple[str, ...] = ()
        self._weights: _Floats = np.empty(0)
        self._spread: _Floats = np.empty((0, 0))
        self._noise = NOISE
        self._is_fitted = False

    def learn(self, kernel: Mapping[str, float], time_us: float | None) -> None:
        """Add one kernel by its features (`features_of`); a kernel without a time or features teaches nothing."""
        if kernel and time_us:
            self._rows.append(kernel)
            self._times.append(math.log(time_us))
            self._is_fitted = False

    def forecast(self, kernel: Mapping[str, float], other: Mapping[str, float]) -> PredictedRatio | None:
        """Compute the first kernel's time over the other one's; None where too little is known."""
        if len(self._rows) < FEWEST or not kernel or not other:
            return None
        if not self._is_fitted:
            self._fit()
        apart = np.array([kernel.get(n, 0.0) - other.get(n, 0.0) for n in self._names])
        new = [kernel.get(n, 0.0) - other.get(n, 0.0) for n in (kernel.keys() | other.keys()) - set(self._names)]
        variance = float(apart @ self._spread @ apart) + WEIGHT**2 * sum(n * n for n in new) + self._noise**2
        return PredictedRatio(float(apart @ self._weights), math.sqrt(variance))

    def _fit(self) -> None:
        """Weights with their covariance; the noise follows from what they leave."""
        self._names = tuple(sorted({name for row in self._rows for name in row}))
        table = np.array([[row.get(n, 0.0) for n in self._names] for row in self._rows])
        table, times = table - table.mean(0), np.array(self._times) - np.mean(self._times)
        noise = max(NOISE, float(np.std(times)) / 2)
        for _ in range(ROUNDS):
            precision = table.T @ table / noise**2 + np.eye(len(self._names)) / WEIGHT**2
            self._spread = np.linalg.inv(precision)
            self._weights = self._spread @ (table.T @ times) / noise**2
            used = float(np.trace(self._spread @ table.T @ table)) / noise**2  # features that the data decide
            left = float(np.sum((times - table @ self._weights) ** 2))
            noise = max(NOISE, math.sqrt(left / max(1.0, len(times) - used)))
        self._noise, self._is_fitted = noise, True


def features_of(prepared: Prepared) -> Mapping[str, float]:
    """Compute the numbers of a kernel's text and of its launches on the last benchmark case.

    There are none where the kernel cannot be judged.
    """
    text_features = features(prepared.source, prepared.tunables)
    if not text_features or prepared.refusal or prepared.arms or not prepared.task.benchmarks:
        return {}
    launches = prepared.plan(prepared.task.benchmarks[-1]).launches
    return {
        **text_features,
        "threads": sum(math.log2(launch.threads) for launch in launches),
        "grid": sum(math.log2(math.prod(launch.grid)) for launch in launches),
        "lanes_in_a_row": sum(math.log2(launch.block[0]) for launch in launches),
        "lds": sum(math.log2(1 + launch.lds_bytes) for launch in launches),
    }
