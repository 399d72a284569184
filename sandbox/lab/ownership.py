"""Distinct workgroups own distinct places: what a sample says about the workgroups that are not in it.

A tile map that is wrong may send two workgroups to one tile. Each then writes right values, as much as all others, and
the tile that nobody writes is in no sample. So the number of a workgroup must follow from the first place that it
writes: then no other workgroup begins there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Literal

import numpy as np
import numpy.typing as npt

from sandbox.lab.workgroups import Grid, place_of

Indices = npt.NDArray[np.int64]

SPARE = 2  # samples more than unknowns, so that a fit says something
LESS = 0.9  # of what a workgroup must have written: with less it left something out
EXACT = 0.25  # of a workgroup: a fit that misses by less gives the right number
RIVALS = 8  # at most; a few show whether several workgroups own one place
MOST_AXES = 4  # of an output that are tried in every order
ENOUGH = 4  # workgroups whose numbers count the tiles, so that another number is a tile's too


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
    idle: list[int] = field(default_factory=list)  # numbers of those that wrote nothing

    def add(self, number: int, positions: Indices) -> None:
        """Add the places in flat memory that a workgroup wrote, ascending."""
        if not positions.size:
            self.idle.append(number)
        if positions.size:
            first, extent = self._box(positions)
            self.numbers.append(number)
            self.firsts.append(first)
            self.extents.append(extent)
            self.sizes.append(int(positions.size))

    def _box(self, positions: Indices) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Find the indices of the first place, and the extent of all of them along each axis."""
        order: Literal["C", "F"] = "F" if self.column_major else "C"
        if int(positions[-1] - positions[0]) + 1 > positions.size:
            axes = np.unravel_index(positions, self.shape, order=order)
            return tuple(int(axis[0]) for axis in axes), tuple(int(axis.max() - axis.min()) + 1 for axis in axes)
        first, last = (tuple(map(int, np.unravel_index(positions[i], self.shape, order=order))) for i in (0, -1))
        extents, is_across = list(self.shape), False  # a run that goes on beyond an axis has all of the faster ones
        for axis in sorted(range(len(first)), reverse=self.column_major):
            if not is_across:
                extents[axis] = last[axis] - first[axis] + 1
            is_across |= first[axis] != last[axis]
        return first, tuple(extents)

    @property
    def shared(self) -> int:
        """Workgroups that begin where another one of the sample does."""
        return len(self.twins)

    @property
    def twins(self) -> tuple[int, ...]:
        """Workgroups that begin where one before them in the sample does."""
        return tuple(n for index, n in enumerate(self.numbers) if self.firsts[index] in self.firsts[:index])

    @property
    def is_plain(self) -> bool:
        """True where the first places give the numbers, by tiles in some order or by a linear map."""
        return self.shared == 0 and (len(self.numbers) < 2 or self._by_tiles() or self._by_line())

    @property
    def is_cut_short(self) -> bool:
        """True where workgroups write full tiles, and one less than is left of its own, or nothing at all."""
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
        return any(size < LESS * most for size, most in zip(self.sizes, left, strict=True)) or self._leaves_a_tile

    @property
    def _leaves_a_tile(self) -> bool:
        """True where the numbers of those that write count the tiles, and one that writes nothing has a tile's."""
        if not self.idle or len(self.numbers) < ENOUGH:
            return False
        fitting = [tiles for owners, tiles in self._maps() if owners == self.numbers]
        return bool(fitting) and all(fitting)

    def rivals(self) -> tuple[int, ...]:
        """Workgroups that would own the first places of the sample's, did the numbers count the tiles.

        Where an index wraps around, they begin where another workgroup does.
        """
        owners = max(self._owners(), key=lambda numbers: sum(map(int.__eq__, numbers, self.numbers)), default=[])
        fresh = dict.fromkeys(n for n in owners if 0 <= n < math.prod(self.grid) and n not in self.numbers)
        return tuple(fresh)[:RIVALS]

    def _by_tiles(self) -> bool:
        return any(owners == self.numbers for owners in self._owners())

    def _owners(self) -> Iterator[list[int]]:
        """Yield the numbers of the workgroups that own the first places, for each order of numbers; -1: none."""
        return (owners for owners, _ in self._maps())

    def _maps(self) -> Iterator[tuple[list[int], list[int]]]:
        """For each order the owners of the first places, and those that wrote nothing though they own a tile."""
        tiles, counts = self._tiles()
        long = [axis for axis in range(3) if self.grid[axis] > 1]
        for order in permutations(range(len(counts))):
            steps = [math.prod(counts[axis] for axis in order[:i]) for i in range(len(order))]
            owners = [sum(step * tile[axis] for step, axis in zip(steps, order, strict=True)) for tile in tiles]
            yield owners, [number for number in self.idle if number < math.prod(counts)]
            if len(long) == len(order):
                ends = [(g, counts[axis]) for g, axis in zip(long, order, strict=True)]
                idle = [n for n in self.idle if all(place_of(n, self.grid)[g] < end for g, end in ends)]
                yield [self._by_axis(tile, long, order) for tile in tiles], idle

    def _by_axis(self, tile: tuple[int, ...], long: Sequence[int], order: Sequence[int]) -> int:
        """Compute the number where the grid's own axes, those longer than one, are the output's in this order."""
        if any(tile[axis] >= self.grid[g] for g, axis in zip(long, order, strict=True)):
            return -1
        return sum(tile[axis] * math.prod(self.grid[:g]) for g, axis in zip(long, order, strict=True))

    def _tiles(self) -> tuple[list[tuple[int, ...]], list[int]]:
        """Find the tile in which each workgroup begins, and count the tiles along each axis that has several."""
        box = [max(extent) for extent in zip(*self.extents, strict=True)]
        counts = [-(-size // extent) for size, extent in zip(self.shape, box, strict=True)]
        axes = [axis for axis, count in enumerate(counts) if count > 1]
        if len(axes) > MOST_AXES:
            return [(-1,)] * len(self.firsts), [1]
        return [tuple(first[axis] // box[axis] for axis in axes) for first in self.firsts], [counts[a] for a in axes]

    def _by_line(self) -> bool:
        """Tell whether a linear function of the first places gives the numbers, with samples to spare."""
        firsts = np.array(self.firsts, float)
        design = np.column_stack([firsts[:, np.ptp(firsts, axis=0) > 0], np.ones(len(firsts))])
        if len(firsts) < design.shape[1] + SPARE:
            return False
        numbers = np.array(self.numbers, float)
        fit = np.linalg.lstsq(design, numbers, rcond=None)[0]
        return bool(np.abs(design @ fit - numbers).max() < EXACT)
