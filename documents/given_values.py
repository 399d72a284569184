"""Arguments from programs of others: what is of no use is refused in a sentence that says what is expected."""

from __future__ import annotations

import math
from numbers import Integral, Real

from records.errors import UsageError


def require(holds: bool, expected: str, value: object) -> None:
    """Raise UsageError, with the value that came instead, where what is expected does not hold."""
    if not holds:
        is_plain = value is None or isinstance(value, str | bytes | Real)
        description = (
            repr(value[:60] if isinstance(value, str | bytes) else value) if is_plain else type(value).__name__
        )
        raise UsageError(f"{expected}, not {description}")


def is_text(value: object) -> bool:
    """Tell whether a value is a string with more in it than white space."""
    return isinstance(value, str) and bool(value.strip())


def is_place(value: object) -> bool:
    """Tell whether a value is text that can be a path."""
    return is_text(value) and "\0" not in str(value)


def is_count(value: object) -> bool:
    """Tell whether a value is a whole number of at least 1."""
    return type(value) is not bool and isinstance(value, Integral) and int(value) >= 1


def is_amount(value: object) -> bool:
    """Tell whether a value is a finite number of at least 0."""
    return type(value) is not bool and isinstance(value, Real) and 0 <= float(value) < math.inf
