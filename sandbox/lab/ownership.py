"""Distinct workgroups own distinct places: what a sample says about the workgroups that are not in it.

A tile map that is wrong may send two workgroups to one tile. Each then writes right values, as much as all others, and
the tile that nobody writes is in no sample. So the number of a workgroup must follow from the first place that it
writes: then no other workgroup begins there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
import numpy.typing as npt

from sandbox.lab.workgroups import Grid, place_of

Indices = npt.NDArray[np.int64]

SPARE = 2  # samples more than unknowns, so that a fit says something
LESS = 0.9  # of what a workgroup must have written: with less it left something out
EXACT = 0.25  # of a workgroup: a fit that misses by less gives the right number
MOST_AXES = 4  # of an output that are tried in every order


@dataclass
class Ownership:
    """The places of one output that workgroups of a sample wrote: first index and extent along each axis."""

    grid: Grid
    shape: tuple[int, ...]
    column_major: bool = False
    numbers: list[int] = field(default_factory=list)
    firsts: list[tuple[int, ...]] = field(default_factory=list)
    extents: list[tuple[int, ...]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def add(self, number: int, places: Indices) -> None:
        """The places in flat memory that a workgroup wrote, ascending; one that wrote none says nothing."""
        if places.size:
            axes = np.unravel_index(places, self.shape, order="F" if self.column_major else "C")
            self.numbers.append(number)
            self.firsts.append(tuple(int(axis[0]) for axis in axes))
            self.extents.append(tuple(int(axis.max() - axis.min()) + 1 for axis in axes))
            self.sizes.append(int(places.size))

    @property
    def shared(self) -> int:
        """Workgroups that begin where another one of the sample does."""
        return len(self.firsts) - len(set(self.firsts))

    @property
    def is_plain(self) -> bool:
        """True where the first places give the numbers, by tiles in some order or by a linear map."""
        return self.shared == 0 and (len(self.numbers) < 2 or self._by_tiles() or self._by_line())

    @property
    def is_cut_short(self) -> bool:
        """True where workgroups write full tiles, and one at an end of the output less than is left there."""
        if not self.extents:
            return False
        box = [max(extent) for extent in zip(*self.extents, strict=True)]
        if max(self.sizes) < math.prod(box) or any(
            f % b for first in self.firsts for f, b in zip(first, box, strict=True)
        ):
            return False
        left = (
            math.prod(min(b, s - f) for b, s, f in zip(box, self.shape, first, strict=True)) for first in self.firsts
        )
        return any(size < LESS * most for size, most in zip(self.sizes, left, strict=True))

    def _by_tiles(self) -> bool:
        box = [max(extent) for extent in zip(*self.extents, strict=True)]
        counts = [-(-size // each) for size, each in zip(self.shape, box, strict=True)]
        axes = [axis for axis, count in enumerate(counts) if count > 1]
        if len(axes) > MOST_AXES:
            return False
        tiles = [tuple(first[axis] // box[axis] for axis in axes) for first in self.firsts]
        count = [counts[axis] for axis in axes]
        orders = [order for order in permutations(range(len(axes)))]
        return any(self._in_turn(tiles, count, order) or self._by_axis(tiles, order) for order in orders)

    def _in_turn(self, tiles: Sequence[tuple[int, ...]], counts: Sequence[int], order: Sequence[int]) -> bool:
        """The numbers count the tiles, along the axes in this order."""
        steps = [math.prod(counts[axis] for axis in order[:at]) for at in range(len(order))]
        return all(
            number == sum(step * tile[axis] for step, axis in zip(steps, order, strict=True))
            for number, tile in zip(self.numbers, tiles, strict=True)
        )

    def _by_axis(self, tiles: Sequence[tuple[int, ...]], order: Sequence[int]) -> bool:
        """The grid's own axes, those longer than one, are the output's in this order."""
        long = [axis for axis in range(3) if self.grid[axis] > 1]
        return len(long) == len(order) and all(
            all(place_of(number, self.grid)[g] == tile[axis] for g, axis in zip(long, order, strict=True))
            for number, tile in zip(self.numbers, tiles, strict=True)
        )

    def _by_line(self) -> bool:
        """A linear function of the first places gives the numbers, with samples to spare."""
        firsts = np.array(self.firsts, float)
        known = np.column_stack([firsts[:, np.ptp(firsts, axis=0) > 0], np.ones(len(firsts))])
        if len(firsts) < known.shape[1] + SPARE:
            return False
        numbers = np.array(self.numbers, float)
        fit = np.linalg.lstsq(known, numbers, rcond=None)[0]
        return bool(np.abs(known @ fit - numbers).max() < EXACT)
