"""A Gaussian process over the choices of a search: few estimates foretell the others, with how far that may be trusted.

Each coordinate has a Matern 5/2 kernel with a length of its own; the whole is their product with a share of their mean,
so that effects may add up or depend on each other (Rasmussen and Williams 2006, sections 2.7, 4.2 and 5.4; Duvenaud and
others 2011 on additive kernels). Lengths and share are those of the highest marginal likelihood on a small grid: the
longest length says that a coordinate does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

LENGTHS = (0.25, 0.5, 1.0, 2.0, 6.0, 1e3)  # of coordinates from 0 to 1
PRIOR = (-1.2, -0.4, 0.0, 0.0, -0.2, -0.2)  # log density: very short lengths foretell nothing
SHARES = (0.0, 0.25, 0.6)  # of the mean of the kernels
START, SHARE = 2, 1  # indices into the two tuples above
SWEEPS = 2
JITTER = 1e-3  # of the variance: two equal choices would make the matrix singular
NOISE = 3e-2  # of the variance, where times are measured
REFUSAL_NOISE = 1e-2
REFUSAL_LENGTH = 2  # index into LENGTHS
ENOUGH = 1e-6  # a likelihood that grows by less is the same one, on whatever machine


class Surrogate:
    """A model of all choices, learnt from some of them. The same calls give the same answers."""

    def __init__(self, coordinates: Floats, jitter: float = JITTER) -> None:
        """`coordinates` has a row for each choice and columns from 0 to 1."""
        self._jitter = jitter
        self._positions: list[Indices] = []
        self._kernels: list[list[Floats]] = []
        for column in coordinates.T:
            values, positions = np.unique(column, return_inverse=True)
            apart = np.abs(values[:, None] - values[None])
            self._positions.append(positions.reshape(-1))
            self._kernels.append([_matern(apart, length) for length in LENGTHS])
        self._lengths = [START] * len(self._positions)
        self._share = SHARE
        self._learnt: Indices = np.empty(0, np.intp)
        self._factor: Floats = np.empty((0, 0))

    def learn(self, indices: Sequence[int], targets: Floats) -> None:
        """Fit lengths and share to these choices and what they gave; `targets` have mean 0 and variance 1 or so."""
        self._learnt = np.asarray(indices, np.intp)
        parts = [
            [self._part(i, j, self._learnt, self._learnt) for j in range(len(LENGTHS))]
            for i in range(len(self._positions))
        ]
        best = self._likelihood(parts, self._lengths, self._share, targets)
        for _ in range(SWEEPS):
            before = best
            for i in range(len(parts)):
                for j in range(len(LENGTHS)):
                    lengths = [*self._lengths[:i], j, *self._lengths[i + 1 :]]
                    if (likelihood := self._likelihood(parts, lengths, self._share, targets)) > best + ENOUGH:
                        best, self._lengths = likelihood, lengths
            for share in range(len(SHARES)):
                if (likelihood := self._likelihood(parts, self._lengths, share, targets)) > best + ENOUGH:
                    best, self._share = likelihood, share
            if best == before:
                break
        chosen = [part[j] for part, j in zip(parts, self._lengths, strict=True)]
        self._factor = _factor(_product_and_mean(chosen, self._share), self._jitter)

    def foretell(self, targets: Floats, indices: Indices) -> tuple[Floats, Floats]:
        """Mean and standard deviation at other choices, from targets at the choices that it learnt from."""
        weights = _solved(self._factor, targets)
        across = _solved(self._factor, self._between(self._learnt, indices))
        variance = _variance(weights) * np.maximum(1.0 - (across**2).sum(0), 1e-10)
        return across.T @ weights, np.sqrt(variance)

    def chance(self, read: Sequence[int], accepted: Floats, indices: Indices) -> Floats:
        """Estimate the share of such choices that are accepted, from those read so far (1: accepted, 0: refused)."""
        read_indices = np.asarray(read, np.intp)
        usual = (accepted.sum() + 1.0) / (len(accepted) + 2.0)
        lengths = [REFUSAL_LENGTH] * len(self._positions)  # what the times taught says nothing of refusals
        matrix = self._between(read_indices, read_indices, lengths) + REFUSAL_NOISE * np.eye(len(read_indices))
        share: Floats = usual + self._between(indices, read_indices, lengths) @ _solved(matrix, accepted - usual)
        return np.clip(share, 0.01, 1.0)

    def _between(self, rows: Indices, columns: Indices, lengths: Sequence[int] | None = None) -> Floats:
        chosen = [self._part(i, j, rows, columns) for i, j in enumerate(lengths or self._lengths)]
        return _product_and_mean(chosen, self._share)

    def _part(self, coordinate: int, length: int, rows: Indices, columns: Indices) -> Floats:
        positions = self._positions[coordinate]
        return self._kernels[coordinate][length][positions[rows][:, None], positions[columns][None]]

    def _likelihood(self, parts: list[list[Floats]], lengths: list[int], share: int, targets: Floats) -> float:
        """Compute the log marginal likelihood, the variance integrated out, with the prior of the lengths."""
        factor = _factor(
            _product_and_mean([part[j] for part, j in zip(parts, lengths, strict=True)], share), self._jitter
        )
        variance = _variance(_solved(factor, targets))
        fit = -0.5 * (len(targets) + 1) * math.log(variance) - float(np.log(np.diag(factor)).sum())
        return fit + sum(PRIOR[j] for j in lengths)


def _matern(apart: Floats, length: float) -> Floats:
    scaled = math.sqrt(5) * apart / length
    kernel: Floats = (1 + scaled + scaled**2 / 3) * np.exp(-scaled)
    return kernel


def _product_and_mean(parts: Sequence[Floats], share: int) -> Floats:
    product = parts[0].copy()
    for part in parts[1:]:
        product *= part
    mean: Floats = sum(parts[1:], parts[0]) / len(parts)
    return SHARES[share] * mean + (1 - SHARES[share]) * product


def _factor(matrix: Floats, jitter: float) -> Floats:
    return np.asarray(np.linalg.cholesky(matrix + jitter * np.eye(len(matrix))), np.float64)


def _solved(matrix: Floats, targets: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrix, targets), np.float64)


def _variance(weights: Floats) -> float:
    return (float(weights @ weights) + 1.0) / (len(weights) + 1.0)
