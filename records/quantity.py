"""Quantities in sentences and tables: a count with its noun, a number without an exponent."""

from __future__ import annotations

import math
from typing import TypeVar

Value = TypeVar("Value")


def given(value: Value | None, instead: Value) -> Value:
    """Return the value where there is one, also where it is 0."""
    return instead if value is None else value


def known(amount: float) -> float | None:
    """Return the amount; None for the 0 that stands for one that is not known."""
    return amount if amount > 0 else None


def counted(many: int, noun: str, plural: str = "") -> str:
    """Write `1 case`, `2 cases`; `plural` where an s does not make it."""
    return f"{many} {noun if many == 1 else plural or noun + 's'}"


def plain(value: float, digits: int = 4) -> str:
    """Write the number with so many significant digits and never an exponent: a column of one unit can be read down."""
    if not math.isfinite(value):
        return str(value)
    rounded = f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - int(rounded.partition("e")[2]))
    text = f"{float(rounded):.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def format_us(time_us: float | None) -> str:
    """Write a time with three significant digits and its unit."""
    if time_us is None:
        return "-"
    for scale, unit in ((1e6, "s"), (1e3, "ms")):
        if time_us >= scale:
            return f"{time_us / scale:.3g} {unit}"
    return f"{plain(time_us, 3)} us"


def format_times(value: float | None) -> str:
    """Write a speed-up with its sign."""
    return "-" if value is None else f"{value:.2f}x"
