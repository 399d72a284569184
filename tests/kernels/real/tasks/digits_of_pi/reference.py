"""Hexadecimal digits of pi with what follows them."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Values as the description has them."""
    return {"unused": np.ones(1, np.float32)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    kind = inputs["unused"].dtype.type
    found = [_digit(i, kind) for i in range(case.dims["n"])]
    return {"y": np.array(found, kind)}


def _digit(place: int, kind: type[np.floating]) -> np.floating:
    """The digit at a place, with sums in one type."""
    one, four, five, six = (_fraction(j, place, kind) for j in (1, 4, 5, 6))
    whole = kind(4) * one - kind(2) * four - five - six
    return kind(16) * (whole - np.floor(whole))


def _fraction(j: int, place: int, kind: type[np.floating]) -> np.floating:
    total = kind(0)
    for k in range(place + 3):
        power = pow(16, place - k, 8 * k + j) if k < place else 16.0 ** (place - k)
        total = total + kind(power / (8.0 * k + j))
    return total - np.floor(total)
