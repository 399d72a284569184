"""Dims along which a task's elements do not depend on one another: rows of a softmax, m and n of a product.

Along such a dim the reference of some indices is computed from the inputs at these indices alone, so a few elements
of a large case cost little, and a large case can be filled with the values of a small one. A dim is independent when
every tensor has it as a whole axis, or as the number of its blocks (`ceil_div(n, 128)`), when every output has it, and
when the reference of gathered inputs is the gathered reference, which is tried on drawn values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from records.errors import TaskError
from tasks.expressions import names_in
from tasks.loader import TASK_FAULTS
from tasks.manifest import case_name
from tasks.task import Array, Case, Task, Tensors

TRIED = 4  # granules of the small case on which a dim is tried, gathered to one more
LARGER = 2.0**24  # operations plus bytes of the listed cases on which it is tried besides: a mask that begins behind a
# few places, or depends on two of them, shows on none of the smallest sizes
CLOSE = 1e-9  # of the largest reference: another order of additions
_BLOCKS = re.compile(r"ceil_div\(\s*(\w+)\s*,\s*(\d+)\s*\)")

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Independent:
    """One independent dim: indices may be taken in whole aligned granules."""

    name: str
    granule: int  # elements of the dim
    axes: Mapping[str, tuple[int, int]]  # tensor to (axis, elements of the dim that one of its has)

    def gather(self, tensors: Tensors, granules: Indices) -> dict[str, Array]:
        """Take the tensors at these granules, in this order; those without the dim as they are."""
        gathered = dict(tensors)
        for tensor, (axis, elements) in self.axes.items():
            if tensor in gathered:
                gathered[tensor] = np.take(gathered[tensor], self.indices(granules, elements), axis=axis)
        return gathered

    def indices(self, granules: Indices, elements: int = 1) -> Indices:
        """Return the places of these granules on an axis of which one element has so many `elements` of the dim's."""
        width = self.granule // elements
        return np.asarray((granules[:, None] * width + np.arange(width)).ravel())


def independent_dims(task: Task) -> tuple[Independent, ...]:
    """List the independent dims, in the order of the task's; none where its values must stay together (`mix`)."""
    if not task.mix or any(spec.strides for spec in task.inputs):
        return ()
    dims = (along(task, name) for name in task.tests[0].dims)
    return tuple(dim for dim in dims if dim is not None and _holds(task, dim))


def along(task: Task, name: str) -> Independent | None:
    """Find the axes of a dim, None where a shape uses it in another way or no output has it."""
    axes: dict[str, tuple[int, int]] = {}
    for spec in (*task.inputs, *task.outputs):
        mine = []
        for axis, text in enumerate(spec.shape):
            blocks = _BLOCKS.fullmatch(text.strip())
            if text.strip() == name:
                mine.append((axis, 1))
            elif blocks and blocks[1] == name and int(blocks[2]) > 0:
                mine.append((axis, int(blocks[2])))
            elif name in names_in(text):
                return None
        if len(mine) > 1:
            return None
        if mine:
            axes[spec.name] = mine[0]
    if any(axes.get(spec.name, (0, 0))[1] != 1 for spec in task.outputs):
        return None
    granule = math.lcm(task.multiples.get(name, 1), *(elements for _, elements in axes.values()))
    return Independent(name, granule, axes)


def _holds(task: Task, dim: Independent) -> bool:
    """Tell whether the reference follows a gathering of the inputs, with repeats, gaps and another order."""
    try:
        return all(_follows(task, dim, *trial) for trial in _trials(task, dim))
    except (TaskError, *TASK_FAULTS):
        return False


def _trials(task: Task, dim: Independent) -> Iterator[tuple[Case, Indices]]:
    """Yield a small case with two seeds, and the listed ones that cost little, each with the granules to gather."""
    least = {name: min(case.dims[name] for case in task.tests) for name in task.tests[0].dims}
    small = {**least, dim.name: TRIED * dim.granule}
    for seed in (1, 2):
        case = replace(task.tests[0], name=case_name(small), dims=small, seed=seed)
        yield case, np.array([3, 0, 0, 2, 1])
    for case in (*task.tests, *task.benchmarks):
        count, remainder = divmod(case.dims[dim.name], dim.granule)
        if count > 1 and not remainder and sum(task.work(case)) <= LARGER:
            yield case, np.array([*range(count - 1, 0, -1), count - 1])


def _follows(task: Task, dim: Independent, case: Case, granules: Indices) -> bool:
    dims = {**case.dims, dim.name: granules.size * dim.granule}
    inputs = task.draw(case)
    if any(np.shape(inputs[s.name]) != task.shape_of(s, case) for s in task.inputs_of(case)):
        return False
    want = dim.gather(task.reference(inputs, case), granules)
    recomputed = task.reference(dim.gather(inputs, granules), replace(case, name=case_name(dims), dims=dims))
    return all(_is_close(want[s.name], recomputed[s.name]) for s in task.outputs)


def _is_close(want: Array, other: Array) -> bool:
    a, b = np.asarray(want, np.float64), np.asarray(other, np.float64)
    if a.shape != b.shape:
        return False
    finite = np.isfinite(a)
    scale = float(np.abs(a[finite]).max()) if finite.any() else 0.0
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE * scale, equal_nan=True))
