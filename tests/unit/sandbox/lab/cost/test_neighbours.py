from __future__ import annotations

from itertools import pairwise

from sandbox.lab.cost.neighbours import MOST, NONE, neighbours


def test_a_chiplet_has_every_eighth_of_the_resident_workgroups_around_the_middle() -> None:
    middle, row, plane, *near = neighbours((64, 64, 1), 304, 8)
    assert (middle, row, plane) == (2048, 2048 - 64, NONE)
    assert near[0] <= middle < near[-1] + 8 and {b - a for a, b in pairwise(near)} == {8}
    assert len(near) == 304 // 8


def test_the_workgroup_before_in_z_lies_a_plane_back() -> None:
    assert neighbours((4, 4, 16), 64, 8)[:3] == (128, 124, 112)


def test_a_grid_of_one_workgroup_a_chiplet_has_no_neighbours() -> None:
    assert neighbours((8, 1, 1), 8, 8) == ()


def test_no_more_are_executed_than_show_what_is_shared() -> None:
    assert len(neighbours((1 << 20, 1, 1), 8 * 304, 8)) == 3 + MOST
