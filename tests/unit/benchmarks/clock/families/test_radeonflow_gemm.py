"""A product's row as a task and a candidate with the launches that the author's launcher makes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.clock.families.radeonflow_gemm import point_of, split_of, transposes
from benchmarks.clock.rows import MeasuredRow
from records.errors import UsageError
from sandbox.candidate.prepare import Prepared, prepare
from tasks.loader import load_task

CODE = """#include <hip/hip_runtime.h>
#define __FP8_TYPE __hip_fp8_e4m3_fnuz
#define __BF16_TYPE __hip_bfloat16
namespace transpose_kernel {
template <typename Elem, int M, int N, int TILE_DIM, int BLOCK_SIZE, int VEC_SIZE>
__global__ void transpose_kernel(Elem* odata, const Elem* idata) {}
}
namespace gemm_kernel {
template <int M, int N, int SPLITK_FACTOR, int BLOCK_SIZE>
__global__ void reduce_kernel(const float c_splitk[SPLITK_FACTOR][M][N], __hip_bfloat16 c[M][N]) {}
template <typename I, typename A, typename O, int M, int N, int K, int BM, int BN, int BK, int Q, int BLOCK, int WM,
          int WN, int LDA, int LDB, int LOAD>
__global__ void gemm_kernel(const I a[M][LDA], const I b[N][LDB], O c[M][N], const float* sa, const float* sb) {}
}
//    DISPATCH_TRANSPOSE(  2048,   1024,     64,   1024, 4); // for a
//    DISPATCH_TRANSPOSE(  2048,    576,     32,    256, 8); // for b
"""
DIMS = {"m": 1024, "n": 576, "k": 2048}
ROW = MeasuredRow("radeonflow_gemm", "MI300X", "split4", DIMS, "fp8", 45.0, "repeated", "a/b", "0a", "-")


def prepared(folder: Path, row: MeasuredRow) -> Prepared:
    """The candidate of a row, read."""
    point = point_of(folder, CODE, row)
    return prepare(point.kernel.read_text(), load_task(point.task))


def test_a_split_product_is_two_transposes_parts_and_their_sum(tmp_path: Path) -> None:
    read = prepared(tmp_path, ROW)
    assert read.refusal is None
    b, a, product, total = read.plan(read.task.benchmarks[0]).launches
    assert (b.grid, b.block) == ((18, 64, 1), (4, 64, 1))
    assert (a.grid, a.block) == ((16, 32, 1), (16, 64, 1))
    assert (product.grid, product.block) == ((10, 2, 4), (512, 1, 1))
    assert "1024, 576, 512, 256, 128, 128" in product.kernel  # a part of k is 512
    assert total.grid == (1024 * 576 // 4 // 256, 1, 1)
    assert len(read.plan(read.task.tests[0]).launches) == 4


def test_a_whole_product_needs_no_sum(tmp_path: Path) -> None:
    read = prepared(tmp_path, replace(ROW, kernel="split1"))
    assert read.refusal is None
    launches = read.plan(read.task.benchmarks[0]).launches
    assert len(launches) == 3 and "__BF16_TYPE" in launches[-1].kernel


def test_the_launchers_own_table_gives_the_transposes() -> None:
    assert transposes(CODE) == {(2048, 1024): (64, 1024, 4), (2048, 576): (32, 256, 8)}


def test_another_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no product"):
        split_of("4 parts")
    assert split_of("split8") == 8
