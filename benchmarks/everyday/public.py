"""What five public HIP and CUDA programs compute, in NumPy, with the names of their buffers as parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Integers = NDArray[np.int32]


def softmax(src: Floats) -> Floats:
    """Give each row's softmax."""
    power = np.exp(src - src.max(axis=1, keepdims=True))
    share: Floats = power / power.sum(axis=1, keepdims=True)
    return share


def matrix_product(A: Floats, B: Floats) -> Floats:
    """Multiply two matrices."""
    return A @ B


def layer_norm(inp: Floats, weight: Floats, bias: Floats) -> tuple[Floats, Floats, Floats]:
    """Normalise each row; its mean and the reciprocal of its deviation beside it."""
    mean = inp.mean(axis=1, keepdims=True)
    shifted = inp - mean
    rstd = 1 / np.sqrt((shifted * shifted).mean(axis=1, keepdims=True) + 1e-5)
    return shifted * rstd * weight + bias, mean[:, 0], rstd[:, 0]


def _normal(d: Floats) -> Floats:
    k = 1 / (1 + 0.2316419 * np.abs(d))
    series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804014327 * np.exp(-0.5 * d * d) * series
    below: Floats = np.where(d > 0, 1 - tail, tail)
    return below


def black_scholes(StockPrice: Floats, OptionStrike: Floats, OptionYears: Floats) -> tuple[Floats, Floats]:
    """Price call and put options at an interest of 2 % and a volatility of 30 %."""
    root = np.sqrt(OptionYears)
    d1 = (np.log(StockPrice / OptionStrike) + (0.02 + 0.5 * 0.3 * 0.3) * OptionYears) / (0.3 * root)
    in_price, in_strike = _normal(d1), _normal(d1 - 0.3 * root)
    discounted = OptionStrike * np.exp(-0.02 * OptionYears)
    call = StockPrice * in_price - discounted * in_strike
    return call, discounted * (1 - in_strike) - StockPrice * (1 - in_price)


def cheapest_paths(gpuWall: Integers, gpuResult: Integers) -> Integers:
    """Find the least sum on a way down the wall to each column, one step to the side at most in each row."""
    least = gpuResult
    for row in gpuWall:
        left = np.concatenate((least[:1], least[:-1]))
        right = np.concatenate((least[1:], least[-1:]))
        least = row + np.minimum(np.minimum(left, least), right)
    return least
