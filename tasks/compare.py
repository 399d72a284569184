"""The verdict on one output: the error-ratio rule against a float64 reference.

A candidate's error may be `ratio` times that of the standard implementation in the task's own dtype, in
three measures: the largest error, the root mean square error (the relative Frobenius norm with both sides multiplied
by the reference's norm, so that a zero reference divides nothing), and the 99.9th percentile of the error. The rule
has no scale of its own, so zeros cannot pass; it follows the tests of flash-attention.

A baseline can be exact by luck (all-equal rows, small integers, a handful of elements), so each limit also has a
floor: so many units of the output dtype's spacing, taken where the same measure of the reference's magnitudes lies.
Half a unit where the output is narrower than float32: intermediates are float32, so an honest kernel differs from
the exact value by its one final rounding. Four units for float32 and float64: there the intermediates round as
coarsely as the output, and four units are eight correctly rounded operations in a row. As a relative error that is
2**-8 for bf16 and 2**-21 for float32 at most: no shortcut hides in it. Integers have no floor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from tasks.diagnosis import Pattern, diagnose, diagnose_non_finite
from tasks.dtypes import to_float64
from tasks.error_measures import QUANTILE, WORST, Measures, floor_of, measures_of, over
from tasks.task import Array
from tasks.tolerance import Tolerance


@dataclass(frozen=True)
class Match:
    """`error` is the largest of the three errors over the baseline's own; correct means at most `ratio`."""

    correct: bool
    error: float
    message: str = ""  # the fault and its place, for those who fix it
    pattern: Pattern | None = None  # of the errors; None when correct


@dataclass(frozen=True)
class _Slack:
    """The error allowed for every element, whatever its own size; a row lies along the last axis.

    The sums behind an element are as large as its row's and its column's inputs make them. The row's root mean square
    shows the first only, so an element in a large column gets more: rows times columns over all, at least the row's.
    """

    atol: float
    rows: Array  # both have the output's shape, without memory of their own
    columns: Array

    @classmethod
    def of(cls, want: Array, tolerance: Tolerance) -> _Slack:
        """The slack of outputs around these right ones."""
        rows, columns = np.zeros(()), np.ones(())
        if tolerance.row_rtol and want.ndim:
            squares = np.square(np.where(np.isfinite(want), want, 0.0))
            rows = tolerance.row_rtol * np.sqrt(np.mean(squares, axis=-1, keepdims=True))
            if want.ndim > 1:
                if want.shape[-1] < SHORT and rows.any():
                    rows = np.maximum(rows, SHORT_SHARE * np.median(rows[rows > 0]))
                columns = np.mean(squares, axis=-2, keepdims=True)
                whole = np.mean(columns, axis=-1, keepdims=True)
                columns = np.sqrt(np.maximum(1.0, columns / np.where(whole > 0, whole, 1.0)))
        return cls(
            tolerance.atol + tolerance.least, np.broadcast_to(rows, want.shape), np.broadcast_to(columns, want.shape)
        )

    def part(self, part: Any) -> Array:
        """That of the elements at this index."""
        return np.asarray(self.atol + self.rows[part] * self.columns[part])


SHORT, SHORT_SHARE = 4, 2.0**-8  # of the usual row's slack that a row of fewer elements has: all may cancel by chance
SPARSE = 2  # times as many elements as are compared, and the others are left out
NEAR = 64.0  # times the limit, up to which more outputs are asked for; what misses it by more is wrong by any measure
Beside = Callable[[], tuple[Array, Array]] | None  # reference and baseline of more elements


class Yardstick:
    """A reference and a baseline with all that does not depend on the candidate, for outputs that are compared often.

    `judge` gives the same answers as `compare`, in a fraction of the time where the candidate is right. Its `error`
    then leaves out the 99.9th percentile, which is known only to be within the limit.
    """

    def __init__(
        self, reference: Array, baseline: Array, dtype: np.dtype[Any], tolerance: Tolerance, beside: Beside = None
    ) -> None:
        """`dtype` is the output's, `beside` is asked where one fails; the others are those of `compare`."""
        self._reference, self._baseline, self._beside = reference, baseline, beside
        self._tolerance = tolerance
        with np.errstate(over="ignore", invalid="ignore"):
            want, base = to_float64(reference), to_float64(baseline)
            self._is_plain = bool(
                np.isfinite(want).all()
                and np.isfinite(to_float64(want.astype(dtype))).all()
                and np.isfinite(base).all()
                and want.size
            )
            if self._is_plain:
                self._own = measures_of(np.abs(base - want).ravel())
                self._floor = floor_of(measures_of(np.abs(want).ravel()), dtype, tolerance)
                self._slack = _Slack.of(want, tolerance)

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
        found = compare(candidate, self._reference, self._baseline, self._tolerance)
        if found.correct or self._beside is None or found.error > NEAR * self._tolerance.ratio:
            return found
        return compare(candidate, self._reference, self._baseline, self._tolerance, beside=self._beside())

    def _quick(self, candidate: Array) -> float | None:
        """The score of a right answer; None when it is wrong or needs the whole comparison."""
        ratio, rtol = self._tolerance.ratio, self._tolerance.rtol
        limits = Measures(
            *(ratio * own + floor for own, floor in zip(astuple(self._own), astuple(self._floor), strict=True))
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
            over(largest, self._own.largest, self._floor.largest, ratio),
            over(rms, self._own.rms, self._floor.rms, ratio),
        )


def _parts(shape: tuple[int, ...]) -> list[Any]:
    """Slices along the first axis of a quarter of a million elements, which stay in a processor's caches."""
    if not shape or not shape[0]:
        return [...]
    each = max(1, (1 << 18) * shape[0] // max(1, int(np.prod(shape))))
    return [slice(i, i + each) for i in range(0, shape[0], each)]


def compare(
    candidate: Array,
    reference: Array,
    baseline: Array,
    tolerance: Tolerance,
    mask: Array | None = None,
    *,
    beside: tuple[Array, Array] | None = None,
    explain: bool = True,
) -> Match:
    """Judge `candidate` (its dtype is the output's) against the float64 `reference`, on the scale of `baseline`.

    All three have the same shape. NaN and infinities must stand where the reference, rounded to the output's dtype,
    has them. With `mask` only elements where it is True count. `beside` has reference and baseline of more elements of
    this output, from which the scale is taken as well: of a few the baseline may be right by luck. Without `explain` no
    pattern is looked for in what is wrong, which takes longer than the comparison.
    """
    if candidate.shape != reference.shape:
        return Match(
            False, WORST, f"the output has the shape {candidate.shape}, expected is {reference.shape}", "shape"
        )
    keep = np.ones(reference.shape, bool) if mask is None else mask.astype(bool)
    count = int(np.count_nonzero(keep))
    if not count:
        return Match(False, WORST, "no element of the output was compared", "empty")
    with np.errstate(over="ignore", invalid="ignore"):
        slack = None if tolerance.rtol is None else _Slack.of(to_float64(reference), tolerance).part(...)
        if count * SPARSE < keep.size:  # the answer is the same without the others, but for the places of what is wrong
            values = (candidate[keep], reference[keep], baseline[keep])
            near = None if slack is None else np.broadcast_to(slack, keep.shape)[keep]
            found = _judge(*values, tolerance, near, np.ones(count, bool), beside, explain=False)
            if found.correct:
                return found
        return _judge(candidate, reference, baseline, tolerance, slack, keep, beside, explain=explain)


def _judge(
    candidate: Array,
    reference: Array,
    baseline: Array,
    tolerance: Tolerance,
    slack: Array | None,
    keep: Array,
    beside: tuple[Array, Array] | None,
    *,
    explain: bool,
) -> Match:
    ratio, rtol = tolerance.ratio, tolerance.rtol
    got, want, base = to_float64(candidate), to_float64(reference), to_float64(baseline)
    expected = to_float64(reference.astype(candidate.dtype))  # where the type overflows, so must the candidate
    if (unlike := diagnose_non_finite(got, expected, keep)) is not None:
        return Match(False, WORST, unlike.message, unlike.pattern)
    finite = keep & np.isfinite(expected)
    if not finite.any():
        return Match(True, 0.0)
    error = np.asarray(np.abs(got - want))
    error = error if finite.all() else np.where(finite, error, 0.0)
    own = measures_of(_at(np.abs(base - want), finite & np.isfinite(base)))
    if tolerance.matched < 1:
        finite = _matched(error, want, finite, tolerance, slack)
        error = np.where(finite, error, 0.0)
    mine = measures_of(_at(error, finite))
    floor = floor_of(measures_of(np.abs(_at(want, finite))), candidate.dtype, tolerance)
    if beside is not None:
        others, theirs = (to_float64(part).ravel() for part in beside)
        known = np.isfinite(others) & np.isfinite(theirs)
        own = own.at_least(measures_of(np.abs(theirs - others)[known]).alike)
        most = measures_of(np.abs(others[known])).alike
        floor = floor.at_least(floor_of(most, candidate.dtype, tolerance))
    score = max(
        over(mine.largest, own.largest, floor.largest, ratio),
        over(mine.rms, own.rms, floor.rms, ratio),
        over(mine.quantile, own.quantile, floor.quantile, ratio),
    )
    wrong = finite & (error > ratio * own.largest + floor.largest)
    if rtol is not None and slack is not None:
        limit = slack + rtol * np.abs(want)
        beyond = finite & (error > limit)
        score = max(score, _gate(error[beyond], limit[beyond], ratio))
        wrong |= beyond
    if score <= ratio:
        return Match(True, score)
    if not explain:
        return Match(False, score)
    found = diagnose(got, want, error, wrong, finite, score, ratio)
    return Match(False, score, found.message, found.pattern)


def _matched(error: Array, want: Array, chosen: Array, tolerance: Tolerance, slack: Array | None) -> Array:
    """The chosen elements without those whose errors are largest, as many as need not match."""
    left = int((1 - tolerance.matched) * int(chosen.sum()))
    if not left:
        return chosen
    scaled = error
    if tolerance.rtol is not None and slack is not None:
        limit = slack + tolerance.rtol * np.abs(want)
        scaled = np.divide(error, limit, out=np.where(error > 0, np.inf, 0.0), where=limit > 0)
    worst = np.argpartition(np.where(chosen, scaled, -1.0).ravel(), -left)[-left:]
    kept = chosen.ravel().copy()
    kept[worst] = False
    return kept.reshape(chosen.shape)


def allowed(reference: Array, baseline: Array, dtype: np.dtype[Any], tolerance: Tolerance) -> Array:
    """The largest error that an element of a right output may have, in the reference's shape, float64.

    An output within it everywhere may still fail by the root mean square or the 99.9th percentile of its errors.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        want, base = to_float64(reference), to_float64(baseline)
        finite = np.isfinite(want) & np.isfinite(to_float64(reference.astype(dtype)))
        own = measures_of(np.abs(base - want)[finite & np.isfinite(base)])
        floor = floor_of(measures_of(np.abs(want[finite])), dtype, tolerance)
        most = np.full(want.shape, tolerance.ratio * own.largest + floor.largest)
        if tolerance.rtol is None:
            return most
        return np.asarray(np.minimum(most, _Slack.of(want, tolerance).part(...) + tolerance.rtol * np.abs(want)))


def _at(values: Array, chosen: Array) -> Array:
    """The chosen values in a row; all of them, which is the rule, without a copy."""
    return values.ravel() if chosen.all() else np.asarray(values[chosen])


def _gate(error: Array, limit: Array, ratio: float) -> float:
    """The score of the elements beyond the element-wise gate: above `ratio`, 0 where there are none."""
    if not error.size:
        return 0.0
    return WORST if (limit == 0).any() else min(WORST, max(float((error / limit).max()) * ratio, ratio * (1 + 1e-9)))
