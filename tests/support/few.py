"""Of many values that show one rule, some are for the usual tests and the others for the long ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def few(values: Iterable[Any], step: int, name: Callable[[Any], str] | None = None) -> list[ParameterSet]:
    """All values as parameters, a tuple as several; every one but the first and each step-th after it is `long`."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            id=name(value) if name else None,
            marks=[pytest.mark.long] if number % step else [],
        )
        for number, value in enumerate(values)
    ]
