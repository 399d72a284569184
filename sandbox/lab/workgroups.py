"""Workgroups drawn from a grid: anywhere, each as likely as any other, and besides some at the grid's far edges."""

from __future__ import annotations

import math

import numpy as np

Grid = tuple[int, int, int]


def drawn(grid: Grid, count: int, edges: int, rng: np.random.Generator, without: frozenset[int]) -> tuple[int, ...]:
    """So many numbers (x + gx * (y + gy * z)) from anywhere, then so many at edges; each once, none of `without`."""
    total = math.prod(grid)
    if total <= count + edges + len(without):
        return tuple(number for number in range(total) if number not in without)
    found: list[int] = []
    while len(found) < count:
        number = int(rng.integers(total))
        if number not in found and number not in without:
            found.append(number)
    for _ in range(edges):
        number = _at_edge(grid, rng)
        if number not in found and number not in without:
            found.append(number)
    return tuple(found)


def is_edge(number: int, grid: Grid) -> bool:
    """True where a workgroup is the last one along an axis: its tile may be cut."""
    return any(place == extent - 1 for place, extent in zip(_place(number, grid), grid, strict=True) if extent > 1)


def _at_edge(grid: Grid, rng: np.random.Generator) -> int:
    """A workgroup at the end of one axis at least, anywhere along the others."""
    long = [axis for axis in range(3) if grid[axis] > 1]
    ends = {int(rng.choice(long))} | {axis for axis in long if rng.integers(2)}
    x, y, z = (grid[a] - 1 if a in ends else int(rng.integers(grid[a])) for a in range(3))
    return x + grid[0] * (y + grid[1] * z)


def _place(number: int, grid: Grid) -> Grid:
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])
