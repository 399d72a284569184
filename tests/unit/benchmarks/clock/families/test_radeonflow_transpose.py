"""A transpose's row as a task and a candidate that launches for its shape and for the small one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.families.radeonflow_transpose import point_of, shape_of
from benchmarks.clock.rows import MeasuredRow
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from tasks.loader import load_task

CODE = """#include <hip/hip_runtime.h>
#define __FP8_TYPE __hip_fp8_e4m3_fnuz
namespace transpose_kernel {
template <typename Elem, int M, int N, int TILE_DIM, int BLOCK_SIZE, int VEC_SIZE>
__global__ void transpose_kernel(Elem* odata, const Elem* idata) {}
}
"""
DIMS = {"rows": 512, "cols": 1024}
ROW = MeasuredRow(
    "radeonflow_transpose", "MI300X", "tile64 block512 width4", DIMS, "fp8", 2.5, "repeated", "a/b", "0a", "-"
)


def test_each_case_has_the_one_launch_of_its_size(tmp_path: Path) -> None:
    point = point_of(tmp_path, CODE, ROW)
    prepared = prepare(point.kernel.read_text(), load_task(point.task))
    assert prepared.refusal is None
    (timed,) = prepared.plan(prepared.task.benchmarks[0]).launches
    (tested,) = prepared.plan(prepared.task.tests[0]).launches
    assert (timed.grid, timed.block) == ((16, 8, 1), (16, 32, 1))
    assert (tested.grid, "256, 128" in tested.kernel) == ((2, 4, 1), True)


def test_another_name_is_refused() -> None:
    assert shape_of(ROW.kernel) == (64, 512, 4)
    with pytest.raises(UsageError, match="no transpose"):
        shape_of("tile64")
