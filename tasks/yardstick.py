"""A comparison with one reference again and again, as outputs of timed windows are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np

from tasks.compare import Admitting, Match, compare
from tasks.dtypes import is_float, to_float64
from tasks.error_measures import QUANTILE, Measures, floor_of, measures_of, over
from tasks.slack import Slack
from tasks.task import Array
from tasks.tolerance import Tolerance

Beside = Callable[[], tuple[Array, Array]] | None  # reference and baseline of more elements


class Yardstick:
    """A reference and a baseline with all that does not depend on the candidate, for outputs that are compared often.

    `judge` gives the same answers as `compare`, in a fraction of the time where the candidate is right. Its `error`
    then leaves out the 99.9th percentile, which is known only to be within the limit.
    """

    def __init__(
        self,
        reference: Array,
        baseline: Array,
        dtype: np.dtype[Any],
        tolerance: Tolerance,
        beside: Beside = None,
        admitted: Admitting = None,
    ) -> None:
        """Take the output's `dtype`, and `beside`, asked where one fails; the others are those of `compare`."""
        self._reference, self._baseline, self._beside = reference, baseline, beside
        self._admitted = admitted
        self._tolerance = tolerance
        with np.errstate(over="ignore", invalid="ignore"):
            want, base = to_float64(reference), to_float64(baseline)
            is_flipped = not is_float(dtype) and bool((want != base).any())
            self._is_plain = bool(
                not is_flipped
                and np.isfinite(want).all()
                and np.isfinite(to_float64(want.astype(dtype))).all()
                and np.isfinite(base).all()
                and want.size
            )
            if self._is_plain:
                self._baseline_error = measures_of(np.abs(base - want).ravel())
                self._floor = floor_of(measures_of(np.abs(want).ravel()), dtype, tolerance)
                self._slack = Slack.of(want, tolerance)

    @property
    def nbytes(self) -> int:
        """Memory it holds."""
        return int(self._reference.nbytes + self._baseline.nbytes)

    def judge(self, candidate: Array) -> Match:
        """Judge one output; its dtype is the one named at the start."""
        if self._is_plain and self._tolerance.matched == 1 and candidate.shape == self._reference.shape:
            score = self._quick(candidate)
            if score is not None:
                return Match(True, score)
        values = candidate, self._reference, self._baseline, self._tolerance
        match = compare(*values, admitted=self._admitted)
        if match.correct or self._beside is None:
            return match
        return compare(*values, beside=self._beside(), admitted=self._admitted)

    def _quick(self, candidate: Array) -> float | None:
        """Score a right answer; None when it is wrong or needs the whole comparison."""
        ratio, rtol = self._tolerance.ratio, self._tolerance.rtol
        limits = Measures(
            *(
                ratio * error + floor
                for error, floor in zip(astuple(self._baseline_error), astuple(self._floor), strict=True)
            )
        )
        largest, squares, above = 0.0, 0.0, 0
        for part in _parts(candidate.shape):
            want = self._reference[part]
            with np.errstate(over="ignore", invalid="ignore"):
                error = np.abs(to_float64(candidate[part]) - want)
                top = float(error.max())
                if not top <= limits.largest:  # not a number lands here too
                    return None
                if rtol is not None and (error > self._slack.part(part) + rtol * np.abs(want)).any():
                    return None
                largest = max(largest, top)
                squares += float(np.dot(error.ravel(), error.ravel()))
                above += int((error > limits.quantile).sum())
        size = self._reference.size
        rms = float(np.sqrt(squares / size))
        if not rms <= limits.rms or above > size - 1 - min(size - 1, int(np.ceil(QUANTILE * size))):
            return None
        return max(
            over(largest, self._baseline_error.largest, self._floor.largest, ratio),
            over(rms, self._baseline_error.rms, self._floor.rms, ratio),
        )


def _parts(shape: tuple[int, ...]) -> list[Any]:
    """Cut slices along the first axis of a quarter of a million elements, which stay in a processor's caches."""
    if not shape or not shape[0]:
        return [...]
    rows_per_part = max(1, (1 << 18) * shape[0] // max(1, int(np.prod(shape))))
    return [slice(i, i + rows_per_part) for i in range(0, shape[0], rows_per_part)]
