"""Workgroups that share an L2 at the same time: a chiplet's part of those that are resident at once.

Workgroup i of a grid goes to chiplet i mod their number (AMD's dispatch order on MI300X); units of a chiplet take
them in turn, so those that are there together lie side by side.
"""

from __future__ import annotations

import math

MOST = 48  # of a launch: enough to see rows and columns of tiles that several of them read
NONE = (1 << 64) - 1


def neighbours(grid: tuple[int, int, int], together: int, chiplets: int) -> tuple[int, ...]:
    """Give numbers of workgroups that say what others bring into the caches.

    First the one in the middle of the grid and those before it in y and in z (NONE where there is none): what they load
    in common comes again after a row, or a plane, of the grid. Then one chiplet's part of `together` resident ones.
    """
    total = math.prod(grid)
    middle, row, plane = total // 2, grid[0], grid[0] * grid[1]
    before = (middle - row if grid[1] > 1 and middle >= row else NONE, middle - plane if middle >= plane else NONE)
    together = min(total, max(1, together))
    first = max(0, min(middle // together * together, total - together))
    numbers = range(first, min(total, first + together), chiplets)
    return (middle, *before, *numbers[:MOST]) if len(numbers) > 1 else ()
