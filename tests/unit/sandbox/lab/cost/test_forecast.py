"""Expected times of pairs of kernels whose order on hardware is known, and what binds each."""

from __future__ import annotations

import pytest

from records.evaluation import Resources
from tests.support.forecasts import forecast_of
from tests.support.lab_bench import launch

LARGE = 1 << 26  # floats: beyond the Infinity Cache


def copy(index: str, grid: int = LARGE // 1024) -> str:
    return f"__global__ void k(const float4* x, float4* y) {{\n    long i = {index};\n    y[i] = x[i];\n}}\n"


CONTIGUOUS = copy("(long)blockIdx.x * 256 + threadIdx.x")


def test_a_large_copy_is_bound_by_memory_at_a_practical_rate() -> None:
    expected = forecast_of(CONTIGUOUS, [launch("k", ["x", "y"], [LARGE // 1024], [256])], LARGE)
    rate = 8 * LARGE / expected.cold_us / 1e6
    assert expected.resource == "hbm" and 2.5 < rate < 4.5  # TB/s: published copies reach 3 to 4.3
    assert sum(expected.stalls_us.values()) == pytest.approx(expected.cold_us, rel=1e-3)


def test_buffers_that_fit_in_the_infinity_cache_are_faster_when_warm() -> None:
    grid = [launch("k", ["x", "y"], [1 << 13], [256])]
    small = forecast_of(CONTIGUOUS, grid, 1 << 23)
    assert small.warm_us < 0.8 * small.cold_us
    large = forecast_of(CONTIGUOUS, [launch("k", ["x", "y"], [LARGE // 1024], [256])], LARGE)
    assert large.warm_us == pytest.approx(large.cold_us, rel=0.05)


def test_a_second_launch_over_large_buffers_costs_as_much_again() -> None:
    single = launch("k", ["x", "y"], [LARGE // 1024], [256])
    once, twice = forecast_of(CONTIGUOUS, [single], LARGE), forecast_of(CONTIGUOUS, [single, single], LARGE)
    assert twice.cold_us > 1.8 * once.cold_us


def test_lanes_far_apart_cost_more_than_neighbours() -> None:
    apart = copy("((long)(threadIdx.x % 64) * (gridDim.x * 4) + (long)blockIdx.x * 4 + threadIdx.x / 64)")
    grid = [launch("k", ["x", "y"], [1 << 13], [256])]
    assert forecast_of(apart, grid, 1 << 23).warm_us > 1.5 * forecast_of(CONTIGUOUS, grid, 1 << 23).warm_us


def loop(turns: int, unroll: str, body: str) -> str:
    return (
        "__global__ void k(const float* x, float* y) {\n    float a = threadIdx.x, b = blockIdx.x;\n"
        f"    #pragma unroll {unroll}\n    for (int i = 0; i < {turns}; ++i) {{ {body} }}\n"
        "    y[threadIdx.x] = a + b;\n}\n"
    )


def test_a_loop_costs_its_turns_however_it_is_unrolled() -> None:
    body = "a = a * 1.0001f + b; b = b * 0.9999f + a;"
    grid = [launch("k", ["x", "y"], [304 * 8], [256])]
    rolled, unrolled = (forecast_of(loop(2048, how, body), grid, 1024) for how in ("1", "16"))
    assert rolled.resource in ("valu", "latency")
    assert unrolled.cold_us == pytest.approx(rolled.cold_us, rel=0.35)
    fewer = forecast_of(loop(512, "1", body), grid, 1024)
    assert rolled.cold_us - rolled.overhead_us == pytest.approx(4 * (fewer.cold_us - fewer.overhead_us), rel=0.15)


def tile(pad: int) -> str:
    return f"""
__global__ void k(const float* x, float* y) {{
    __shared__ float t[64][64 + {pad}];
    const int i = threadIdx.x % 64, j = threadIdx.x / 64;
    const long at = (long)blockIdx.x * 4096;
    for (int r = j; r < 64; r += 4) t[r][i] = x[at + r * 64 + i];
    __syncthreads();
    for (int r = j; r < 64; r += 4) y[at + r * 64 + i] = t[i][r];
}}"""


def test_padding_that_costs_a_resident_workgroup_still_beats_bank_conflicts() -> None:
    grid = [launch("k", ["x", "y"], [1 << 12], [256])]
    padded, conflicting = forecast_of(tile(1), grid, 1 << 24), forecast_of(tile(0), grid, 1 << 24)
    assert conflicting.warm_us > 1.03 * padded.warm_us
    assert conflicting.stalls_us["lds"] > 3 * padded.stalls_us.get("lds", 0.0)
    line, causes = conflicting.slowest.stalls_of_lines()[0]
    assert (line, max(causes, key=lambda name: causes[name])) == (9, "lds")


def test_atomic_operations_on_one_address_follow_one_another() -> None:
    add = "__global__ void k(const float* x, int* y) {{ atomicAdd(y + {place}, (int)threadIdx.x); }}"
    grid = [launch("k", ["x", "y"], [1 << 12], [256])]
    same = forecast_of(add.format(place="(threadIdx.x & 1)"), grid)
    spread = forecast_of(add.format(place="(blockIdx.x * 256 + threadIdx.x)"), grid)
    assert same.resource == "atomics" and same.cold_us > 3 * spread.cold_us


def test_private_memory_is_traffic() -> None:
    body = """
__global__ void k(const float* x, float* y) {{
    volatile float kept[64];
    const long i = (long)blockIdx.x * 256 + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < {count}; ++j) kept[j % 64] = x[i] + j;
    for (int j = 0; j < {count}; ++j) sum += kept[(j * 7) % 64];
    y[i] = sum;
}}"""
    grid = [launch("k", ["x", "y"], [1 << 12], [256])]
    few, many = (forecast_of(body.format(count=n), grid) for n in (1, 64))
    assert many.cold_us > 2 * few.cold_us


def test_a_second_wave_hides_what_the_first_waits_for() -> None:
    chain = """
__global__ void k(const float* x, float* y) {
    int at = threadIdx.x + blockIdx.x * 64;
    for (int j = 0; j < 64; ++j) at = (int)x[at] + threadIdx.x;
    y[blockIdx.x * 64 + threadIdx.x] = at;
}"""
    wide, narrow = Resources("k", 64, 0, 16, 0, 0, 8), Resources("k", 512, 0, 16, 0, 0, 1)
    grid = [launch("k", ["x", "y"], [304 * 32], [64])]
    many, alone = (forecast_of(chain, grid, 1 << 20, [r]) for r in (wide, narrow))
    assert alone.cold_us - alone.overhead_us > 1.5 * (many.cold_us - many.overhead_us)
    assert alone.resource == "latency"


def test_one_more_workgroup_than_units_costs_a_second_turn() -> None:
    body = loop(2048, "4", "a = a * 1.0001f + b; b = b * 0.9999f + a;")
    resources = [Resources("k", 512, 0, 16, 0, 0, 1)]
    even, odd = (forecast_of(body, [launch("k", ["x", "y"], [n], [256])], 1024, resources) for n in (304, 305))
    assert odd.cold_us - odd.overhead_us == pytest.approx(2 * (even.cold_us - even.overhead_us), rel=0.1)


def multiply(sums: int) -> str:
    """A wave that multiplies 256 times and adds to so many sums in turn."""
    return f"""
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float sum16 __attribute__((ext_vector_type(16)));
__global__ void k(const float* x, float* y) {{
    half4 a; a[0] = x[threadIdx.x]; a[1] = a[2] = a[3] = a[0];
    sum16 s[{sums}] = {{}};
    for (int i = 0; i < 256 / {sums}; ++i)
        #pragma unroll
        for (int j = 0; j < {sums}; ++j) s[j] = __builtin_amdgcn_mfma_f32_32x32x8f16(a, a, s[j], 0, 0, 0);
    float all = 0;
    for (int j = 0; j < {sums}; ++j) all += s[j][threadIdx.x % 16];
    y[blockIdx.x * 256 + threadIdx.x] = all;
}}"""


def test_a_sum_goes_straight_from_one_matrix_instruction_to_the_next() -> None:
    grid = [launch("k", ["x", "y"], [304 * 4], [256])]
    single, four = (forecast_of(multiply(sums), grid) for sums in (1, 4))
    assert single.resources_us["mfma"] == pytest.approx(4 * 256 * 32 / 2100, rel=0.01)
    assert single.cold_us == pytest.approx(four.cold_us, rel=0.1)


def test_a_sleeping_wave_takes_its_time() -> None:
    sleep = "__global__ void k(const float* x, float* y) {{ {} y[threadIdx.x] = x[threadIdx.x]; }}"
    grid = [launch("k", ["x", "y"], [304], [64])]
    awake, asleep = (forecast_of(sleep.format(s), grid) for s in ("", "__builtin_amdgcn_s_sleep(100);"))
    assert asleep.cold_us - awake.cold_us == pytest.approx(64 * 100 / 2100, rel=0.1)
