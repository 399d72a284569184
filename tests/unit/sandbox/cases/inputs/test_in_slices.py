from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sandbox.cases.inputs.in_slices import expected_in_slices
from sandbox.cases.inputs.independence import independent_dims
from tasks.loader import load_task
from tasks.task import Array, Case, Tensors


@pytest.mark.parametrize(
    ("name", "dims", "calls"),
    [
        ("row_softmax", {"rows": 37, "cols": 100}, 8),
        ("transpose", {"rows": 40, "cols": 96}, 8),
        ("fp8_block_gemm", {"m": 64, "n": 384, "k": 256}, 3),
        ("histogram", {"n": 1 << 14, "bins": 64}, 1),
    ],
)
def test_a_large_case_has_the_same_answers_slice_by_slice(name: str, dims: dict[str, int], calls: int) -> None:
    """Along the dim of most granules; whole where no dim is independent."""
    task = load_task(name)
    case = Case("", dims, 3)
    shapes = list[dict[str, int]]()

    def reference(inputs: Tensors, part: Case) -> dict[str, Array]:
        shapes.append(dict(part.dims))
        return task.reference(inputs, part)

    inputs = task.draw(case)
    elements = sum(x.size for x in inputs.values()) + sum(x.size for x in task.reference(inputs, case).values())
    names = [dim.name for dim in independent_dims(task)]
    watched = replace(task, reference=reference)
    sliced = expected_in_slices(watched, lambda: names, inputs, case, part=elements // 7)
    for tensors, whole in zip(sliced, task.expected(inputs, case), strict=True):
        assert all(
            np.allclose(tensors[n], x, rtol=1e-6, atol=1e-6) and tensors[n].dtype == x.dtype for n, x in whole.items()
        )
    assert len(shapes) == calls
