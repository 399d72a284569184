"""Functions of `scipy.special` that NumPy has not, for references that use them; SciPy itself is not needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def erf(x: Any) -> Any:
    """Compute the error function, in the type of x or in float64."""
    return _each(math.erf, x)


def erfc(x: Any) -> Any:
    """Compute one less the error function."""
    return _each(math.erfc, x)


def gammaln(x: Any) -> Any:
    """Compute the logarithm of the gamma function."""
    return _each(math.lgamma, x)


def expit(x: Any) -> Any:
    """Compute the logistic function."""
    return 1 / (1 + np.exp(-np.asarray(x)))


def logit(x: Any) -> Any:
    """Compute the inverse of the logistic function."""
    return np.log(np.asarray(x) / (1 - np.asarray(x)))


def logsumexp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute the logarithm of the sum of exponentials along axes."""
    most = np.max(a, axis=axis, keepdims=True)
    total = np.log(np.sum(np.exp(a - most), axis=axis, keepdims=True)) + most
    return total if keepdims else np.squeeze(total, axis=axis)


def softmax(x: Any, axis: Any = None) -> Any:
    """Compute exponentials over their sum along axes."""
    shifted = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return shifted / np.sum(shifted, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """Compute the logarithm of `softmax`."""
    return x - logsumexp(x, axis=axis, keepdims=True)


def _each(function: Any, x: Any) -> Any:
    values = np.asarray(x)
    dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    return np.asarray(np.vectorize(function, otypes=[np.float64])(values) if values.size else values, dtype)
