"""Softmax-like outputs are told by their values, and their inputs must make a wrong maximum overflow.

A shift of the exponents changes nothing in float64, so no reference shows a kernel that subtracts the first element for
the maximum: only an input does, where the exponential of what is left exceeds float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tasks.dtypes import is_float, numpy_dtype, to_float64
from tasks.shortcuts import Sample
from tasks.task import Array, Task

OVERFLOW = 89.0  # exp of it exceeds float32
UNDERFLOW = 104.0  # exp of minus it is zero in float32
CLOSE = 1e-6  # relative


def unseen_maxima(task: Task, samples: Sequence[Sample]) -> Iterator[str]:
    """Yield a sentence for each wrong maximum that no case shows, for each input that goes through a softmax."""
    for input_spec in task.inputs:
        for output_spec in task.outputs:
            for axis in range(len(input_spec.shape)) if is_float(numpy_dtype(input_spec.dtype)) else ():
                logits = _logits(samples, input_spec.name, output_spec.name, axis)
                if logits:
                    for title in _unseen(logits):
                        yield (
                            f"{output_spec.name!r} is a softmax of {input_spec.name!r} along axis {axis}, and a kernel "
                            f"would pass that takes {title} for the maximum: give it rows in which that overflows"
                        )


def _logits(samples: Sequence[Sample], input_name: str, output_name: str, axis: int) -> list[Array]:
    """Find every sample's exponents, the axis last, in units of e; empty where the output is no softmax of them."""
    pairs = []
    has_contrast = False
    for sample in samples:
        x, y = to_float64(sample.inputs[input_name]), to_float64(sample.reference[output_name])
        if x.ndim <= axis:
            return []
        if x.shape[axis] < 2:
            continue
        x = np.moveaxis(x, axis, -1)
        scale = _scale(x, y, axis)
        if scale is None:
            return []
        has_contrast = has_contrast or scale != 0.0
        pairs.append((x, scale))
    scales = [scale for _, scale in pairs if scale]
    return [x * scales[0] for x, _ in pairs] if has_contrast else []


def _scale(x: Array, y: Array, axis: int) -> float | None:
    """Find the factor of x in the exponents; 0 where these values cannot tell it, None where y is no such thing."""
    has_input_shape = y.shape == np.moveaxis(x, -1, axis).shape
    if has_input_shape:
        y = np.moveaxis(y, axis, -1)
        total = y.sum(axis=-1)
        if (y >= 0).all() and np.allclose(total, 1.0, rtol=1e-9):
            return _slope(x, y)
        return _slope(x, np.exp(y)) if (y <= 0).all() and np.allclose(np.exp(y).sum(axis=-1), 1.0, rtol=1e-9) else None
    if y.squeeze().shape == x[..., 0].squeeze().shape:
        top = x.max(axis=-1)
        sums = top + np.log(np.exp(x - top[..., None]).sum(axis=-1))
        return 1.0 if np.allclose(y.squeeze(), sums.squeeze(), rtol=1e-9, atol=1e-9) else None
    return None


def _slope(x: Array, y: Array) -> float | None:
    """Find the one factor by which log(y) follows x in each row; 0 without contrast, None where there is none."""
    with np.errstate(divide="ignore"):
        logs = np.log(y)
    is_normal = y > 1e-200
    top = x.argmax(axis=-1)[..., None]
    dx = x - np.take_along_axis(x, top, axis=-1)
    dy = logs - np.take_along_axis(logs, top, axis=-1)
    usable = is_normal & (np.abs(dx) > 1e-3)
    if not usable.any():
        return 0.0
    slopes = dy[usable] / dx[usable]
    middle = float(np.median(slopes))
    return middle if middle > 0 and np.allclose(slopes, middle, rtol=CLOSE) else None


def _unseen(logits: Sequence[Array]) -> Iterator[str]:
    """Yield the wrong maxima that stay within the range of exp in every row."""
    widest: dict[str, float] = {}
    lowest = 0.0
    for x in logits:
        top = x.max(axis=-1)
        maxima = {
            "the first element": x[..., 0],
            "the last element": x[..., -1],
            "the middle element": x[..., x.shape[-1] // 2],
            "the mean": x.mean(axis=-1),
            "zero": np.zeros_like(top),
        }
        for title, wrong in maxima.items():
            widest[title] = max(widest.get(title, 0.0), float((top - wrong).max()))
        lowest = min(lowest, float(top.min()))
    yield from (title for title, gap in widest.items() if gap <= OVERFLOW)
    if lowest >= -UNDERFLOW:
        yield "the larger of it and zero"
