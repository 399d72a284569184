"""Describes a wrong output: the pattern of its errors, the worst element, and what to look for in the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tasks.task import Array

ROWS, COLUMNS = 256, 64  # how much of a matrix the search for moved rows looks at
SHARE = 0.9  # of the wrong elements a pattern must explain
SHARES = (  # of the elements
    (0.001, "fewer than one in a thousand elements are"),
    (0.01, "fewer than one in a hundred elements are"),
    (0.1, "fewer than one in ten elements are"),
)
Pattern = Literal[
    "shape",  # the output has another shape
    "empty",  # there was nothing to compare
    "non_finite",
    "zero",
    "constant",
    "scaled",
    "shifted",
    "transposed",
    "moved",  # rows or columns stand in the place of others
    "zero_rows",
    "row_factors",
    "accuracy",  # right but for rounding
    "ties",  # right but for values half-way between two integers
    "scattered",  # no pattern
]


@dataclass(frozen=True)
class Diagnosis:
    """Description of a wrong output; `message` is for people, `pattern` for every decision."""

    pattern: Pattern
    message: str


def diagnose_non_finite(actual: Array, expected: Array, keep: Array) -> Diagnosis | None:
    """Diagnose NaN or infinities that are not where they should be; None when they are."""
    same = (
        (actual == expected) | (np.isnan(actual) & np.isnan(expected)) | (np.isfinite(actual) & np.isfinite(expected))
    )
    bad = keep & ~same
    count, total = int(bad.sum()), int(keep.sum())
    if not count:
        return None
    position = _first(bad)
    if np.isfinite(actual[position]):
        message = (
            f"{count} elements should not be finite; the first is at {_index(position)}: got {actual[position]:.6g}, "
            f"expected {expected[position]:.6g}"
        )
    else:
        which = "every element is" if count == total else f"{count} of {total} elements are"
        message = (
            f"{which} {'NaN' if np.isnan(actual[position]) else 'infinite'} where a finite value is expected; "
            f"the first is at {_index(position)}, expected {expected[position]:.6g}: look for an overflow, 0/0 or "
            "memory never written"
        )
    return Diagnosis("non_finite", message)


def diagnose(
    actual: Array,
    want: Array,
    error: Array,
    wrong: Array,
    keep: Array,
    score: float,
    ratio: float,
    excess: Array | None = None,
) -> Diagnosis:
    """Diagnose a failed comparison. `wrong` marks the elements beyond the limit, `keep` those compared.

    `excess` are errors in multiples of what the task allows of each element, where only that was too small.
    """
    position = tuple(int(i) for i in np.unravel_index(int(np.argmax(error)), error.shape))
    worst = f"worst at {_index(position)}: got {actual[position]:.6g}, expected {want[position]:.6g}"
    diagnosis = _overall_pattern(actual, want, keep) or _matrix(actual, want, wrong, keep)
    if diagnosis is None and score > 5 * ratio:
        diagnosis = _row_factors(actual, want, error, keep)
    if diagnosis is not None:
        return Diagnosis(diagnosis.pattern, f"{diagnosis.message} ({worst})")
    if _is_accuracy(error, want, keep) and _is_whole(actual, want, keep):
        return Diagnosis("accuracy", f"{_off_by_steps(error, keep)} ({worst})")
    if _is_accuracy(error, want, keep) and excess is not None:
        return Diagnosis("accuracy", _beyond(actual, want, excess))
    if _is_accuracy(error, want, keep):
        return Diagnosis(
            "accuracy",
            f"close but not accurate enough: the error is {score:.3g} times the standard implementation's own and "
            f"the limit is {ratio:g}; look for accumulation in a narrow type, a fast approximation or a "
            f"truncating conversion ({worst})",
        )
    count = int(wrong.sum()) or int((keep & (error > 0)).sum())
    return Diagnosis("scattered", f"{count} of {int(keep.sum())} elements are wrong{_region(wrong)}; {worst}")


def _is_whole(actual: Array, want: Array, keep: Array) -> bool:
    """Tell whether both are integers."""
    return all(bool((np.trunc(values[keep]) == values[keep]).all()) for values in (actual, want))


def _off_by_steps(error: Array, keep: Array) -> str:
    """Say of codes how many are off and by how much, in words: a held-out case's numbers are not told."""
    off, total = error[keep & (error > 0)], int(keep.sum())
    share = next((words for limit, words in SHARES if off.size <= limit * total), "many elements are")
    count = "one element is" if off.size == 1 else share
    by = "one step" if off.max() < 1.5 else "a few steps" if off.max() < 8 else "many steps"
    where = "near no tie of the reference" if off.max() < 1.5 else "whichever way ties are rounded"
    return f"{off.size} of {total}: {count} off by {by}, {where}; look at the scale, the rounding and what is left out"


def _beyond(actual: Array, want: Array, excess: Array) -> str:
    position = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), excess.shape))
    return (
        f"close but not accurate enough: {int((excess > 0).sum())} of {excess.size} elements are further off than the "
        f"task's rtol and atol allow of each, up to {excess[position]:.3g} times; look for accumulation in a narrow "
        f"type, a fast approximation or terms that cancel (worst at {_index(position)}: got {actual[position]:.6g}, "
        f"expected {want[position]:.6g})"
    )


def _overall_pattern(actual: Array, want: Array, keep: Array) -> Diagnosis | None:
    """Find patterns of all compared elements."""
    g, w = actual[keep], want[keep]
    if not g.any():
        return Diagnosis("zero", "all elements are zero: nothing was computed or stored")
    if g.size > 1 and (g == g[0]).all():
        return Diagnosis("constant", f"all elements are {g[0]:.6g}: the same value was stored everywhere")
    square = float(np.dot(w, w))
    factor = float(np.dot(g, w)) / square if square > 0 and np.isfinite(square) else 1.0
    if factor and abs(factor - 1) > 0.02 and _near(g / factor, w):
        return Diagnosis(
            "scaled", f"every element is the expected one times {factor:.4g}: look for a missing or doubled factor"
        )
    if g.size > 1:
        shift = float(np.mean(g - w))
        spread = float(np.std(g - w))
        if abs(shift) > 1e-3 * float(np.std(w)) and spread < 1e-3 * abs(shift):
            return Diagnosis("shifted", f"every element is the expected one plus {shift:.4g}")
    return None


def _matrix(actual: Array, want: Array, wrong: Array, keep: Array) -> Diagnosis | None:
    """Find patterns of two-dimensional outputs compared whole."""
    if actual.ndim != 2 or not keep.all() or min(actual.shape) < 2:
        return None
    rows, columns = actual.shape
    if not _near(actual, want):  # a symmetric output is near its own transpose, too
        if _near(actual.reshape(columns, rows).T, want):
            return Diagnosis("transposed", "the output is transposed: its memory has the order of the other layout")
        if rows == columns and _near(actual.T, want):
            return Diagnosis("transposed", "the output is transposed")
    if wrong.any() and not wrong[~_emptied(actual, want)].any():
        return _zero_rows(actual, want)
    return _moved(actual, want, wrong, "row") or _moved(actual.T, want.T, wrong.T, "column")


def _row_factors(actual: Array, want: Array, error: Array, keep: Array) -> Diagnosis | None:
    """Find rows that are right but for a factor of their own, as when a row's sum leaves something out."""
    if actual.ndim != 2 or not keep.all() or actual.shape[1] < 4:
        return None
    squares = np.sum(want * want, axis=1)
    factors = np.divide(np.sum(actual * want, axis=1), squares, where=squares > 0, out=np.ones_like(squares))
    if float(np.abs(actual - factors[:, None] * want).max()) > 0.05 * float(error.max()):
        return None
    row = int(np.argmax(np.abs(factors - 1)))
    if _emptied(actual, want)[row]:
        return _zero_rows(actual, want)
    return Diagnosis(
        "row_factors",
        f"each row is the expected one times a factor of its own (row {row}: {factors[row]:.6g}): look at what the "
        "row's sum or maximum leaves out or takes twice",
    )


def _emptied(actual: Array, want: Array) -> Array:
    """Tell for each row whether it is zero and should not be."""
    return np.asarray(~actual.any(axis=1) & want.any(axis=1))


def _zero_rows(actual: Array, want: Array) -> Diagnosis:
    empty = np.flatnonzero(_emptied(actual, want))
    return Diagnosis(
        "zero_rows",
        f"{empty.size} of {actual.shape[0]} rows are zero, from row {empty[0]} to row {empty[-1]}: nothing was "
        "computed or stored there, or zeros were stored over it",
    )


def _moved(actual: Array, want: Array, wrong: Array, axis_name: str) -> Diagnosis | None:
    """Find lines of the matrix, rows as given here, most of whose wrong ones hold another one's values.

    A line of one value, as of zeros, does not say where it comes from.
    """
    bad = np.flatnonzero(wrong.any(axis=1))[:ROWS]
    if bad.size < 2 or actual.shape[1] < 4:
        return None
    g, w = actual[bad, :COLUMNS], want[: ROWS * 4, :COLUMNS]
    nearest = np.array([int(np.argmin(np.abs(w - row).max(axis=1))) for row in g])
    is_moved = (nearest != bad) & (w[nearest] != w[nearest, :1]).any(axis=1)
    hits = [
        (int(b), int(n))
        for b, n, row in zip(bad[is_moved], nearest[is_moved], g[is_moved], strict=True)
        if _near(row, w[n])
    ]
    if len(hits) < SHARE * bad.size:
        return None
    target, source = hits[0]
    return Diagnosis(
        "moved",
        f"{axis_name}s are in the wrong order, swapped or shifted: {axis_name} {target} holds the values of "
        f"{axis_name} {source}",
    )


def _region(wrong: Array) -> str:
    """Write ` in rows 3 to 5, columns 0 to 63` where the wrong elements keep to a part of the output."""
    if not wrong.any() or wrong.ndim == 0:
        return ""
    names = ("row", "column") if wrong.ndim == 2 else tuple(f"index {axis}" for axis in range(wrong.ndim))
    parts = []
    for axis, name in enumerate(names):
        other_axes = tuple(i for i in range(wrong.ndim) if i != axis)
        hit = np.flatnonzero(wrong.any(axis=other_axes))
        size = wrong.shape[axis]
        step = int(hit[1] - hit[0]) if hit.size > 2 and len(set(np.diff(hit).tolist())) == 1 else 1
        if step == 1 and hit[-1] - hit[0] + 1 > 0.9 * size and hit[0] == 0:
            continue  # wrong from the first on, nearly to the end: no region worth naming
        span = f"{name} {hit[0]}" if hit.size == 1 else f"{name}s {hit[0]} to {hit[-1]}"
        if hit[-1] == size - 1 and hit.size == size - hit[0]:
            span += " (the last)" if hit.size == 1 else " (the last ones)"
        elif step > 1:
            span += f" in steps of {step}"
        parts.append(span)
    return f", all in {', '.join(parts)}" if parts else ", spread over the whole output"


def _is_accuracy(error: Array, want: Array, keep: Array) -> bool:
    """Tell whether even the largest error is small beside the typical value, so that the formula must be right."""
    typical = float(np.sqrt(np.mean(want[keep] ** 2)))
    largest = float(error[keep].max())
    return typical > 0 and largest < 0.1 * typical


def _near(actual: Array, want: Array) -> bool:
    """Tell whether two are equal to within what a change of precision explains."""
    scale = float(np.abs(want).max())
    return scale > 0 and bool(np.abs(actual - want).max() <= 1e-2 * scale)


def _first(mask: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def _index(position: tuple[int, ...]) -> str:
    return f"[{', '.join(str(i) for i in position)}]"
