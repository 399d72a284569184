"""Expected times where workgroups share what they load: in L1 and scalar cache, beside atomic operations."""

from __future__ import annotations

import pytest

from sandbox.lab.cost.forecast import PlanForecast
from tests.support.forecasts import forecast_of
from tests.support.lab_bench import launch

GROUPS, FLOATS = 304 * 8, 1 << 22
GRID = [launch("k", ["x", "y"], [GROUPS], [64])]


def table(first: str, second: str = "y[i] = sum;") -> PlanForecast:
    """Of workgroups of a wave that read 8 KB four times, from a place, and then do something."""
    return forecast_of(
        f"""
__global__ void k(const float* x, float* y) {{
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float* t = x + ({first});
    float sum = 0;
    #pragma unroll 1
    for (int r = 0; r < 4; ++r)
        #pragma unroll 8
        for (int j = 0; j < 32; ++j) sum += t[j * 64 + threadIdx.x] * r;
    {second}
}}""",
        GRID,
        FLOATS,
    )


def test_a_table_that_all_workgroups_read_is_once_in_the_l1_of_a_unit() -> None:
    common, apart = table("0"), table("(blockIdx.x % 2048) * 2048")
    assert 4 * common.resources_us["l2"] < apart.resources_us["l2"]
    assert common.warm_us < apart.warm_us


def test_atomic_operations_do_not_hide_what_is_shared() -> None:
    plain, atomic = table("0"), table("0", "atomicAdd(y + i, sum);")
    assert atomic.resources_us["hbm"] < 2 * plain.resources_us["hbm"] + 2 * 4 * FLOATS / 64 / 4e6


def test_loads_of_the_scalar_unit_move_bytes() -> None:
    floats_each = 2048  # floats of a workgroup, at places that are the same for all lanes
    source = f"""
__global__ void k(const float* __restrict__ x, float* __restrict__ y) {{
    const float* t = x + blockIdx.x * {floats_each};
    float sum = 0;
    #pragma unroll 16
    for (int j = 0; j < {floats_each}; ++j) sum += t[j];
    y[blockIdx.x * 64 + threadIdx.x] = sum;
}}"""
    expected = forecast_of(source, GRID, GROUPS * floats_each)
    assert expected.resources_us["hbm"] == pytest.approx(4 * GROUPS * floats_each / 4.5e6, rel=0.4)


def test_few_units_at_work_keep_their_clock() -> None:
    multiply = """
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float sum16 __attribute__((ext_vector_type(16)));
__global__ void k(const float* x, float* y) {
    half4 a; a[0] = x[threadIdx.x]; a[1] = a[2] = a[3] = a[0];
    sum16 s[4] = {};
    for (int i = 0; i < 512; ++i)
        #pragma unroll
        for (int j = 0; j < 4; ++j) s[j] = __builtin_amdgcn_mfma_f32_32x32x8f16(a, a, s[j], 0, 0, 0);
    y[blockIdx.x * 256 + threadIdx.x] = s[0][0] + s[1][1] + s[2][2] + s[3][3];
}"""
    few, all_units = (forecast_of(multiply, [launch("k", ["x", "y"], [n], [256])]) for n in (38, 304))
    assert all_units.warm_us - all_units.overhead_us > 1.2 * (few.warm_us - few.overhead_us)


def private(kept_floats: int, streamed: int) -> PlanForecast:
    """Of work-items that keep so many floats in private memory while they read so many others."""
    return forecast_of(
        f"""
__global__ void k(const float* x, float* y) {{
    volatile float v[{max(kept_floats, 1)}];
    const long i = (long)blockIdx.x * 256 + threadIdx.x, all = (long)gridDim.x * 256;
    float sum = 0;
    for (int j = 0; j < {kept_floats}; ++j) v[j] = i + j;
    for (int j = 0; j < {streamed}; ++j) sum += x[j * all + i];
    for (int j = 0; j < {kept_floats}; ++j) sum += v[{kept_floats} - 1 - j];
    y[i] = sum;
}}""",
        [launch("k", ["x", "y"], [1 << 12], [256])],
        1 << 26,
    )


def test_what_streams_by_drives_private_memory_out_of_the_l2() -> None:
    together, alone, stream = private(16, 48), private(16, 0), private(0, 48)
    assert together.resources_us["mall"] > 1.05 * (alone.resources_us["mall"] + stream.resources_us["mall"])
