"""Workgroups drawn from a grid: anywhere, each as likely as any other, and besides some at the end of each axis.

Those from anywhere are spread evenly along each axis (a Latin hypercube): where work depends on a row or a column of
the grid, as at a cut tile, each row and column has its share of them.
"""

from __future__ import annotations

import math

import numpy as np

Grid = tuple[int, int, int]


def drawn(grid: Grid, count: int, ends: int, rng: np.random.Generator, without: frozenset[int]) -> tuple[int, ...]:
    """So many numbers x + gx * (y + gy * z) from anywhere, then so many at each axis's end; once each, no `without`."""
    total = math.prod(grid)
    axes = [axis for axis in range(3) if grid[axis] > 1] * ends
    if total <= count + len(axes) + len(without):
        return tuple(number for number in range(total) if number not in without)
    numbers: list[int] = []
    while len(numbers) < count:
        for number in _spread(grid, count - len(numbers), rng):
            if number not in numbers and number not in without:
                numbers.append(number)
    for axis in axes:
        number = _at_end(axis, grid, rng)
        if number not in numbers and number not in without:
            numbers.append(number)
    return tuple(numbers)


def is_edge(number: int, grid: Grid) -> bool:
    """Tell whether a workgroup is the last one along an axis: its tile may be cut."""
    return any(
        coordinate == extent - 1 for coordinate, extent in zip(place_of(number, grid), grid, strict=True) if extent > 1
    )


def _spread(grid: Grid, count: int, rng: np.random.Generator) -> list[int]:
    """So many numbers, of each axis one in each of so many equal parts."""
    parts = [(rng.permutation(count) + rng.random(count)) * extent / count for extent in grid]
    x, y, z = (np.minimum(part.astype(np.int64), extent - 1) for part, extent in zip(parts, grid, strict=True))
    return [int(number) for number in x + grid[0] * (y + grid[1] * z)]


def _at_end(axis: int, grid: Grid, rng: np.random.Generator) -> int:
    """Draw a workgroup at the end of this axis, anywhere along the others."""
    x, y, z = (extent - 1 if a == axis else int(rng.integers(extent)) for a, extent in enumerate(grid))
    return x + grid[0] * (y + grid[1] * z)


def place_of(number: int, grid: Grid) -> Grid:
    """Split the number into x, y and z."""
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])
