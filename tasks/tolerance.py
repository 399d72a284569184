"""The error that an output may have."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """The error-ratio rule of tasks/compare.py, and beside it a gate that every element must pass.

    The gate, where there is an `rtol`: |c - r| <= atol + rtol * |r| + row_rtol * (the root mean square of r's row).
    In a column whose root mean square is larger than that of all of r, the last term grows as much.
    For the error ratio an element may be off by `row_units` of its row: a sum that meets the row's largest value and
    takes it away again loses as much, where the standard adds in another order and loses nothing.
    Where less than 1 must match, the elements with the largest errors, beside their limits, are left out of both rules.
    """

    ratio: float  # error allowed, in multiples of the baseline's own error
    rtol: float | None = None
    atol: float = 0.0
    row_rtol: float = 0.0
    least: float = 0.0  # an error that any element may have, for inputs that the task itself does not draw
    units: float = 4.0  # of the last place of a float32 output, which any element may be off as well
    row_units: float = 0.0  # of the last place of the largest value of a row as float32, for each element of the row
    matched: float = 1.0  # share of the elements to which all this applies; the others must be finite all the same
