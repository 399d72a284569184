"""The standard sum of the task `reduction`, which is what kernels are measured with."""

from __future__ import annotations

import numpy as np
import pytest

from tasks import load_task
from tasks.task import Array, Case


def least_accurate(x: Array) -> np.float32:
    """Of sums by so many lanes, from either end, each lane one element after the other, the farthest from exact."""
    found, exact = [], x.sum(dtype=np.float64)
    for values in (x, x[::-1]):
        for lanes in (64, 256, 1024, 4096):
            sums = np.zeros(lanes, np.float32)
            for at in range(0, values.size, lanes):
                row = values[at : at + lanes]
                sums[: row.size] += row
            total = sums[0]
            for value in sums[1:]:
                total = np.float32(total + value)
            found.append(total)
    return max(found, key=lambda y: abs(float(y) - float(exact)))


@pytest.mark.parametrize("n", [1, 63, 1000, 8193, 65537])
def test_each_lane_sums_one_element_after_the_other(n: int) -> None:
    task = load_task("reduction")
    assert task.baseline is not None
    case = Case("", {"n": n}, 0)
    for seed in range(3):
        inputs = task.make_inputs(case, np.random.default_rng(seed))
        assert task.baseline(inputs, case)["y"][0] == least_accurate(inputs["x"])
