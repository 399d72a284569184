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

Where the reference rounds to integers on the way, several outputs are right near a tie (tasks/roundings.py): each
element is compared with the admitted value nearest to it, and so is the baseline's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tasks.diagnosis import Pattern, diagnose, diagnose_non_finite
from tasks.dtypes import is_float, largest_finite, to_float64
from tasks.error_measures import WORST, Measures, floor_of, measures_of, over
from tasks.roundings import Admitted
from tasks.slack import Slack, lost_in_rows
from tasks.task import Array
from tasks.tolerance import Tolerance

Admitting = Callable[[], Admitted | None] | None


@dataclass(frozen=True)
class Match:
    """`error` is the largest of the three errors over the baseline's own; correct means at most `ratio`."""

    correct: bool
    error: float
    message: str = ""  # the fault and its place, for those who fix it
    pattern: Pattern | None = None  # of the errors; None when correct


TIES, TIES_OFF = 16, 1 / 8  # exact ties from which on a stated way of rounding them counts; share that may differ
ALIKE = 2.0  # times the largest element that further ones may be
SPARSE = 2  # times as many elements as are compared, and the others are left out


def compare(
    candidate: Array,
    reference: Array,
    baseline: Array,
    tolerance: Tolerance,
    mask: Array | None = None,
    *,
    beside: tuple[Array, Array] | None = None,
    admitted: Admitting = None,
    explain: bool = True,
) -> Match:
    """Judge `candidate` (its dtype is the output's) against the float64 `reference`, on the scale of `baseline`.

    All three have the same shape. NaN and infinities must stand where the reference, rounded to the output's dtype,
    has them. With `mask` only elements where it is True count. `beside` has reference and baseline of more elements of
    this output, from which the scale is taken as well: of a few the baseline may be right by luck. `admitted` is asked
    for other right outputs where the candidate misses the reference, or the baseline misses an integer. Without
    `explain` no pattern is looked for in what is wrong, which takes longer than the comparison.
    """
    is_whole = not is_float(candidate.dtype)
    if admitted is None or candidate.shape != reference.shape or not (is_whole and (reference != baseline).any()):
        match = _compared(candidate, reference, baseline, tolerance, mask, beside, explain and admitted is None)
        if match.correct or admitted is None:
            return match
    other = admitted()
    if other is None:
        return _compared(candidate, reference, baseline, tolerance, mask, beside, explain)
    nearest = other.nearest(candidate, reference)
    standard = nearest + (to_float64(baseline) - other.nearest(baseline, reference))
    match = _compared(candidate, nearest, standard, tolerance, mask, None if is_whole else beside, explain)
    return _ties_kept(candidate, reference, mask, other, match) if match.correct and other.tied is not None else match


def _ties_kept(candidate: Array, reference: Array, mask: Array | None, admitted: Admitted, match: Match) -> Match:
    """Refuse an output whose exact ties are rounded in another way than the task states; a few may be off."""
    tied = np.asarray(admitted.tied, bool) if mask is None else admitted.tied & mask.astype(bool)
    count, off = int(tied.sum()), int((tied & (to_float64(candidate) != reference)).sum())
    if count < TIES or off <= TIES_OFF * count:
        return match
    message = f"{off} of {count} values that lie half-way between two integers are rounded to the other one"
    return Match(False, WORST, f"{message}: round ties as the task says", "ties")


def _compared(
    candidate: Array,
    reference: Array,
    baseline: Array,
    tolerance: Tolerance,
    mask: Array | None,
    beside: tuple[Array, Array] | None,
    explain: bool,
) -> Match:
    """Judge as `compare` does, where the reference alone is admitted."""
    if candidate.shape != reference.shape:
        return Match(
            False, WORST, f"the output has the shape {candidate.shape}, expected is {reference.shape}", "shape"
        )
    keep = np.ones(reference.shape, bool) if mask is None else mask.astype(bool)
    count = int(np.count_nonzero(keep))
    if not count:
        return Match(False, WORST, "no element of the output was compared", "empty")
    with np.errstate(over="ignore", invalid="ignore"):
        slack = None if tolerance.rtol is None else Slack.of(to_float64(reference), tolerance).part(...)
        if count * SPARSE < keep.size:  # the answer is the same without the others, but for the places of what is wrong
            values = (candidate[keep], reference[keep], baseline[keep])
            near = None if slack is None else np.broadcast_to(slack, keep.shape)[keep]
            match = _judge(
                *values, replace(tolerance, row_units=0.0), near, np.ones(count, bool), beside, explain=False
            )
            if match.correct:
                return match
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
    if tolerance.matched == 1 and keep.all():
        score = _plain_score(candidate, reference, baseline, tolerance, slack, beside)
        if score is not None and score <= ratio:
            return Match(True, score)
    actual, want, base = to_float64(candidate), to_float64(reference), to_float64(baseline)
    expected = to_float64(reference.astype(candidate.dtype))  # where the type overflows, so must the candidate
    if (unlike := diagnose_non_finite(actual, expected, keep)) is not None:
        return Match(False, WORST, unlike.message, unlike.pattern)
    finite = keep & np.isfinite(expected)
    if not finite.any():
        return Match(True, 0.0)
    error = np.asarray(np.abs(actual - want))
    error = error if finite.all() else np.where(finite, error, 0.0)
    baseline_error = measures_of(_chosen_values(np.abs(base - want), finite & np.isfinite(base)))
    if tolerance.matched < 1:
        finite = _elements_to_match(error, want, finite, tolerance, slack)
        error = np.where(finite, error, 0.0)
    candidate_error = measures_of(_chosen_values(error, finite))
    sizes = measures_of(np.abs(_chosen_values(want, finite)))
    floor, spread = floor_of(sizes, candidate.dtype, tolerance), sizes.largest
    baseline_error, floor = _with_further_elements(baseline_error, floor, candidate.dtype, tolerance, beside, spread)
    score = _score(candidate_error, baseline_error, floor, ratio)
    counted = error
    if tolerance.row_units and want.ndim and not score <= ratio:
        counted = np.where(error <= lost_in_rows(want, finite, candidate.dtype, tolerance), 0.0, error)
        score = _score(measures_of(_chosen_values(counted, finite)), baseline_error, floor, ratio)
    wrong, excess = finite & (counted > ratio * baseline_error.largest + floor.largest), None
    if rtol is not None and slack is not None:
        limit = slack + rtol * np.abs(want)
        beyond = finite & (error > limit)
        if (gate := _gate(error[beyond], limit[beyond], ratio)) > score:
            excess, score = (_excess(error, limit, beyond) if score <= ratio else None), gate
        wrong |= beyond
    if score <= ratio or not explain:
        return Match(score <= ratio, score)
    diagnosis = diagnose(actual, want, error, wrong, finite, score, ratio, excess)
    return Match(False, score, diagnosis.message, diagnosis.pattern)


def _plain_score(
    candidate: Array,
    reference: Array,
    baseline: Array,
    tolerance: Tolerance,
    slack: Array | None,
    beside: tuple[Array, Array] | None,
) -> float | None:
    """Score an output of which everything is finite; None where something is not, or is beyond the gate.

    What `_judge` computes, without the arrays that only a wrong output needs: those take most of its time.
    """
    want = to_float64(reference)
    size = np.abs(want)
    if not want.ndim or not want.size or not size.max() <= largest_finite(candidate.dtype):
        return None
    error, baseline_error = (_distance(values, want) for values in (candidate, baseline))
    if not (np.isfinite(error).all() and np.isfinite(baseline_error).all()):
        return None
    sizes = measures_of(size.ravel())
    floor = floor_of(sizes, candidate.dtype, tolerance)
    measured, floor = _with_further_elements(
        measures_of(baseline_error.ravel()), floor, candidate.dtype, tolerance, beside, sizes.largest
    )
    if tolerance.rtol is not None and slack is not None:
        np.multiply(size, tolerance.rtol, out=size)
        if (error > np.add(size, slack, out=size)).any():
            return None
    return _score(measures_of(error.ravel()), measured, floor, tolerance.ratio)


def _distance(values: Array, want: Array) -> Array:
    """Compute absolute differences in float64; types that NumPy itself has are converted on the way."""
    has_own = values.dtype.kind in "fiub" and values.dtype.isbuiltin == 1
    difference = np.subtract(values if has_own else to_float64(values), want, dtype=np.float64)
    return np.abs(difference, out=difference)


def _score(error: Measures, baseline_error: Measures, floor: Measures, ratio: float) -> float:
    """Return the largest of the three errors over what is allowed."""
    return max(
        over(error.largest, baseline_error.largest, floor.largest, ratio),
        over(error.rms, baseline_error.rms, floor.rms, ratio),
        over(error.quantile, baseline_error.quantile, floor.quantile, ratio),
    )


def _with_further_elements(
    baseline_error: Measures,
    floor: Measures,
    dtype: np.dtype[Any],
    tolerance: Tolerance,
    beside: tuple[Array, Array] | None,
    largest: float,
) -> tuple[Measures, Measures]:
    """Return the baseline's errors and the floor, at least those of more elements of no other size than these.

    `largest` is the size of the largest element that is compared. The standard is off by more where values are larger.
    """
    if beside is None:
        return baseline_error, floor
    further_want, further_base = (to_float64(part).ravel() for part in beside)
    with np.errstate(invalid="ignore"):
        is_alike = np.isfinite(further_base) & (np.abs(further_want) <= ALIKE * largest)
    most = measures_of(np.abs(further_want[is_alike])).alike
    return (
        baseline_error.at_least(measures_of(np.abs(further_base - further_want)[is_alike]).alike),
        floor.at_least(floor_of(most, dtype, tolerance)),
    )


def _elements_to_match(error: Array, want: Array, chosen: Array, tolerance: Tolerance, slack: Array | None) -> Array:
    """Return the chosen elements without those whose errors are largest, as many as need not match."""
    left = int((1 - tolerance.matched) * int(chosen.sum()))
    if not left:
        return chosen
    scaled = error
    if tolerance.rtol is not None and slack is not None:
        limit = slack + tolerance.rtol * np.abs(want)
        scaled = np.divide(error, limit, out=np.where(error > 0, np.inf, 0.0), where=limit > 0)
    worst = np.argpartition(np.where(chosen, scaled, -1.0).ravel(), -left)[-left:]
    remaining = chosen.ravel().copy()
    remaining[worst] = False
    return remaining.reshape(chosen.shape)


def allowed(reference: Array, baseline: Array, dtype: np.dtype[Any], tolerance: Tolerance) -> Array:
    """Give the largest error that an element of a right output may have, in the reference's shape, float64.

    An output within it everywhere may still fail by the root mean square or the 99.9th percentile of its errors.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        want, base = to_float64(reference), to_float64(baseline)
        finite = np.isfinite(want) & np.isfinite(to_float64(reference.astype(dtype)))
        baseline_error = measures_of(np.abs(base - want)[finite & np.isfinite(base)])
        floor = floor_of(measures_of(np.abs(want[finite])), dtype, tolerance)
        most = np.full(want.shape, tolerance.ratio * baseline_error.largest + floor.largest)
        if tolerance.rtol is None:
            return most
        return np.asarray(np.minimum(most, Slack.of(want, tolerance).part(...) + tolerance.rtol * np.abs(want)))


def _chosen_values(values: Array, chosen: Array) -> Array:
    """Return the chosen values in a row; all of them, which is the rule, without a copy."""
    return values.ravel() if chosen.all() else np.asarray(values[chosen])


def _excess(error: Array, limit: Array, beyond: Array) -> Array:
    """Return errors in multiples of their limits, 0 for those within."""
    return np.where(beyond, error / np.maximum(limit, np.finfo(np.float64).tiny), 0.0)


def _gate(error: Array, limit: Array, ratio: float) -> float:
    """Score the elements beyond the element-wise gate: above `ratio`, 0 where there are none."""
    if not error.size:
        return 0.0
    return WORST if (limit == 0).any() else min(WORST, max(float((error / limit).max()) * ratio, ratio * (1 + 1e-9)))
