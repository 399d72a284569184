"""The reference of a large case, computed slice by slice along a dim whose elements do not depend on one another.

In double precision a case takes several times the memory of its own tensors. Where its rows are independent, which is
tried on drawn values (`independence.py`), the reference of some rows is the same from these rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sandbox.cases.inputs.independence import Independent, along
from tasks.manifest import case_name
from tasks.task import Array, Case, Task, Tensors

PART = 1 << 26  # elements of inputs and outputs together whose reference is computed at once


def expected_in_slices(
    task: Task, names: Callable[[], Sequence[str]], inputs: Tensors, case: Case, part: int = PART
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Compute reference and baseline, of a large case in slices; `names` lists the task's independent dims."""
    specs = (*task.inputs_of(case), *task.outputs)
    elements = sum(math.prod(task.shape_of(spec, case)) for spec in specs)
    dim = _longest(task, case, names()) if elements > part else None
    if dim is None:
        return task.expected(inputs, case)
    count = case.dims[dim.name] // dim.granule
    width = max(1, count * part // elements)
    slices = list[tuple[dict[str, Array], dict[str, Array]]]()
    for start in range(0, count, width):
        granules = np.arange(start, min(count, start + width))
        dims = {**case.dims, dim.name: granules.size * dim.granule}
        slices.append(task.expected(dim.gather(inputs, granules), replace(case, name=case_name(dims), dims=dims)))
    axes = {spec.name: dim.axes[spec.name][0] for spec in task.outputs}
    references, baselines = zip(*slices, strict=True)
    return _joined(references, axes), _joined(baselines, axes)


def _longest(task: Task, case: Case, names: Sequence[str]) -> Independent | None:
    """Choose the independent dim of most whole granules; None where no dim has two."""
    dims = [dim for dim in (along(task, name) for name in names) if dim is not None]
    fitting = [dim for dim in dims if case.dims[dim.name] % dim.granule == 0 and case.dims[dim.name] > dim.granule]
    return max(fitting, key=lambda dim: case.dims[dim.name] // dim.granule, default=None)


def _joined(slices: Sequence[dict[str, Array]], axes: dict[str, int]) -> dict[str, Array]:
    return {name: np.concatenate([part[name] for part in slices], axis=axis) for name, axis in axes.items()}
