from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sandbox.cases.inputs.independence import independent_dims
from tasks.loader import load_task
from tasks.task import Case

EXPLOITS = Path(__file__).parents[4] / "kernels" / "exploits" / "tasks"
REAL = Path(__file__).parents[4] / "kernels" / "real" / "tasks"


@pytest.mark.parametrize(
    ("name", "dims"),
    [
        ("row_softmax", [("rows", 1)]),
        ("rms_norm", [("rows", 1)]),
        ("transpose", [("rows", 1), ("cols", 1)]),
        ("fp8_block_gemm", [("m", 32), ("n", 128)]),
        (EXPLOITS / "solve", []),
        (EXPLOITS / "group_sum", []),
        (REAL / "diagonal_masked", []),  # which masks nothing of the smallest case
        (EXPLOITS / "product", [("m", 1), ("n", 1)]),
    ],
    ids=str,
)
def test_the_independent_dims_of_a_task(name: str | Path, dims: list[tuple[str, int]]) -> None:
    assert [(dim.name, dim.granule) for dim in independent_dims(load_task(name))] == dims


def test_gathered_granules_keep_the_blocks_of_a_scale() -> None:
    task = load_task("fp8_block_gemm")
    n = independent_dims(task)[1]
    case = Case("", {"m": 32, "n": 512, "k": 256}, 3)
    inputs = task.draw(case)
    gathered = n.gather(inputs, np.array([3, 1]))
    assert (gathered["b"] == np.concatenate([inputs["b"][384:], inputs["b"][128:256]])).all()
    assert (gathered["b_scale"] == inputs["b_scale"][[3, 1]]).all() and gathered["a"] is inputs["a"]
