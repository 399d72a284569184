"""The sample of a case's workgroups: where it lies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sandbox.lab.drawn import Drawn
from sandbox.lab.ownership import Ownership
from sandbox.lab.pieces import Piece
from sandbox.lab.workgroups import Grid
from tasks.loader import load_task


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


def piece(*places: int) -> Piece:
    return Piece(np.array(places, np.int64), np.zeros(len(places), np.float32))


def test_a_sample_knows_what_each_workgroup_wrote_of_each_output() -> None:
    task = load_task("transpose")
    case = replace(task.tests[0], dims=dict.fromkeys(task.tests[0].dims, 8))
    (spec,) = task.outputs
    for layout, first in (("row_major", (1, 2)), ("column_major", (2, 1))):
        drawn = Drawn.of(replace(task, outputs=(replace(spec, layout=layout),)), case, (4, 1, 1))
        drawn.add(3, {spec.name: piece(10, 11)})
        assert drawn.elements_written == {3: 2} and drawn.owners[spec.name].firsts == [first]


def sample(written: dict[int, tuple[int, ...]], grid: Grid = (4, 1, 1)) -> Drawn:
    """Workgroups of an output of 16 elements in a row, and the places that each of them wrote."""
    drawn = Drawn(grid, {"y": Ownership(grid, (16,))})
    for number, places in written.items():
        drawn.add(number, {"y": piece(*places)})
    return drawn


TILES = {number: tuple(range(4 * number, 4 * number + 4)) for number in range(4)}


def test_workgroups_that_begin_at_one_place_are_twins() -> None:
    assert sample(TILES).shared == 0 and sample(TILES).twin == 0
    both = sample({0: TILES[0], 1: TILES[1], 2: TILES[1]})
    assert (both.shared, both.twin) == (1, 2)


@pytest.mark.parametrize(
    ("written", "is_missing"),
    [
        (TILES, False),
        ({**TILES, 1: ()}, True),
        ({**TILES, 1: TILES[1][:2]}, True),
        ({n: places[:3] for n, places in TILES.items()}, True),
    ],
)
def test_a_workgroup_that_wrote_less_than_the_others_is_missed(
    written: dict[int, tuple[int, ...]], is_missing: bool
) -> None:
    drawn = sample(written)
    assert drawn.is_missing(16) is is_missing
    assert drawn.leaves_a_question(16) or not is_missing


def test_all_workgroups_together_write_nine_tenths_of_the_output_at_least() -> None:
    assert not sample(TILES).falls_short(17) and sample(TILES).falls_short(18)
