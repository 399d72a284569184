"""Points of the fp8 GEMM from a made-up source: the plan, the constants, the task's shape and layout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.clock.families.fp8_gemm import GemmConfiguration, candidate, configuration, point_of, write_task
from benchmarks.clock.rows import MeasuredRow
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from tasks.loader import load_task

SOURCE = """#include <hip/hip_runtime.h>
#include <pybind11/pybind11.h>
using fp8 = unsigned char;
struct cube { int m, n, k; };
template <int block_size, cube block_tile, cube warp_tile, typename load_type, int depth, bool fused, bool streamk>
__global__ __launch_bounds__(block_size) void kernel(const fp8* a, const fp8* b, const float* as, const float* bs,
                                                     __hip_bfloat16* c, int m, int n, int k, int stride, float* tmp,
                                                     int* counter) {}
void run() { std::cerr << "of the host"; }
"""
TEXT = "128x64x128 mfma32 pipeline2 block256 columns"
ROW = MeasuredRow(
    "fp8_gemm", "MI300X", TEXT, {"m": 1024, "n": 576, "k": 512}, "fp8", 61.5, "warm", "a/b t.txt", "0abc", "events"
)


def test_a_configuration_is_read_from_its_name() -> None:
    assert configuration(TEXT) == GemmConfiguration((128, 64, 128), 32, 2, 256, True)
    assert configuration(TEXT).text == TEXT
    with pytest.raises(UsageError, match="names no configuration"):
        configuration("128x64 mfma32")


def test_the_source_stands_unchanged_between_plan_and_constants() -> None:
    text = candidate(SOURCE, configuration(TEXT))
    plan, _, code = text.partition("+++*/\n")
    assert 'kernel = "kernel<256, BLOCK_TILE, WARP_TILE, __uint128_t, 2, true, false>"' in plan
    assert code == f"{SOURCE}\nconstexpr cube BLOCK_TILE{{128, 64, 128}}, WARP_TILE{{32, 32, 16}};\n"
    other = candidate(SOURCE, configuration("64x128x64 mfma16 pipeline0 block64 rows"))
    assert "__uint128_t, 0, false, false>" in other and "WARP_TILE{16, 16, 32}" in other


def test_waits_are_written_only_where_they_are_asked_for() -> None:
    assert "s_waitcnt" not in candidate(SOURCE, configuration(TEXT))
    assert "s_waitcnt(0xc07f), __syncthreads()" in candidate(SOURCE, configuration(TEXT), writes_waits=True)


def test_a_row_becomes_a_task_and_a_candidate_that_fit_each_other(tmp_path: Path) -> None:
    point = point_of(tmp_path, SOURCE, ROW)
    assert (point.measured_us, point.caches, point.source) == (61.5, "warm", "a/b t.txt at 0abc")
    task = load_task(point.task)
    assert [dict(case.dims) for case in task.benchmarks] == [{"m": 1024, "n": 576, "k": 512}]
    prepared = prepare(point.kernel.read_text(), task)
    assert prepared.refusal is None
    launch = prepared.plan(task.benchmarks[0]).launches[0]
    assert (launch.grid, launch.block) == ((1, 8, 9), (256, 1, 1))


@pytest.mark.parametrize("reads_columns", [True, False])
def test_operands_lie_as_the_kernel_reads_them(tmp_path: Path, reads_columns: bool) -> None:
    task = load_task(write_task(tmp_path, "fp8_gemm", ROW.dims, reads_columns=reads_columns))
    layouts = {spec.name: spec.layout for spec in task.inputs}
    assert layouts["a_scale"] == layouts["b_scale"] == "column_major"
    assert layouts["a"] == layouts["b"] == ("column_major" if reads_columns else "row_major")


def test_two_rows_never_share_a_task_or_a_kernel_wrongly(tmp_path: Path) -> None:
    rows = [ROW, replace(ROW, kernel=TEXT.replace("columns", "rows")), replace(ROW, dims={**ROW.dims, "k": 1024})]
    points = [point_of(tmp_path, SOURCE, row) for row in rows]
    assert len({p.task for p in points}) == 3
    assert len({p.kernel for p in points}) == 2


def test_the_reference_gives_a_partial_last_block_its_own_scale(tmp_path: Path) -> None:
    task = load_task(write_task(tmp_path, "fp8_gemm", ROW.dims))
    case = next(c for c in task.tests if c.dims["n"] % 128)
    inputs = task.draw(case)
    m, n, k = (case.dims[name] for name in "mnk")
    expected = sum(
        float(inputs["a"][m - 1, i])
        * float(inputs["b"][n - 1, i])
        * float(inputs["a_scale"][m - 1, i // 128])
        * float(inputs["b_scale"][-1, i // 128])
        for i in range(k)
    )
    assert np.isclose(float(task.reference(inputs, case)["c"][m - 1, n - 1]), expected)
