"""The sample of a case's workgroups: where it lies."""

from __future__ import annotations

import pytest

from sandbox.lab.drawn import Drawn
from sandbox.lab.workgroups import Grid


@pytest.mark.parametrize(
    ("grid", "numbers", "is_at_ends"),
    [
        ((19, 25, 1), (18, 474, 460), True),  # the last of the first row, the corner, the last row
        ((19, 25, 1), (18, 474, 20), False),
        ((64, 1, 1), (63,), True),
        ((64, 1, 1), (63, 5), False),
        ((1, 1, 1), (0,), False),  # it has no end that others have not
    ],
)
def test_a_sample_at_the_ends_is_known(grid: Grid, numbers: tuple[int, ...], is_at_ends: bool) -> None:
    assert Drawn(grid, {}, dict.fromkeys(numbers, 1)).is_at_ends is is_at_ends
