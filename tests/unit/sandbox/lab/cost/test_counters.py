"""Counters of small kernels, against figures worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from records.evaluation import Resources
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.occupancy import l1_sharers, occupancy
from sandbox.lab.cost.phases import lane_groups
from sandbox.target import load_target
from tests.support.lab_bench import execute, floats, launch

MI300X = load_target("mi300x")


def count(source: str, resolved: ResolvedLaunch, elements: int = 1 << 16) -> LaunchCounters:
    execution = execute(source, [resolved], {"x": floats(elements)}, {"y": np.zeros(elements, np.float32)}, count=True)
    assert execution.findings == () and len(execution.launches) == 1
    return execution.launches[0]


def lds(body: str, declaration: str = "float t[4096]", block: int = 64) -> LaunchCounters:
    source = f"""
__global__ void k(const float* x, float* y) {{
    __shared__ __attribute__((aligned(128))) {declaration};
    int i = threadIdx.x;
    {body}
}}"""
    return count(source, launch("k", ["x", "y"], block=[block]))


def copy_of(kind: str, index: str = "blockIdx.x * 64 + threadIdx.x") -> str:
    return f"__global__ void k(const {kind}* x, {kind}* y) {{ int i = {index}; y[i] = x[i]; }}"


def turns(loop: str, read: str) -> str:
    """A kernel that adds up what a loop reads of `v`, the input."""
    return f"""
__global__ void k(const float* x, float* y) {{
    const volatile float* v = x;
    float s = 0;
    #pragma unroll 1
    for ({loop}) s += {read};
    y[threadIdx.x] = s;
}}"""


def test_sixteen_contiguous_bytes_a_lane_are_8_lines_and_16_segments() -> None:
    c = count(copy_of("float4"), launch("k", ["x", "y"], [256]))
    load = next(s for s in c.sites if s.kind == "load")
    assert (load.instructions, load.size, load.lanes) == (256, 16, 256 * 64)
    assert (load.lines, load.segments, load.bytes) == (256 * 8, 256 * 16, 256 * 1024)
    assert load.efficiency == 1.0 and load.unit_clocks == 256 * 16
    assert c.counters["SQ_INSTS_VMEM_RD"] == c.counters["SQ_INSTS_VMEM_WR"] == 256
    assert c.counters["TCP_TOTAL_ACCESSES"] == 2 * 256 * 16 and c.counters["TCC_READ"] == 256 * 8
    assert c.counters["SQ_WAVES"] == 256 and c.recorded == 4 and c.blocks == 256


def test_four_contiguous_bytes_a_lane_are_2_lines() -> None:
    c = count(copy_of("float"), launch("k", ["x", "y"], [256]))
    load = next(s for s in c.sites if s.kind == "load")
    assert (load.lines / 256, load.segments / 256, load.unit_clocks / 256, load.accesses / 256) == (2, 4, 4, 16)


@pytest.mark.parametrize(
    ("index", "address_of"),
    [
        ("i * 131 + t", lambda i, t: i * 131 + t),
        ("i * 32 + t * 64", lambda i, t: i * 32 + t * 64),
        ("i % 16 * 33 + t", lambda i, t: i % 16 * 33 + t),
        ("(63 - i) * 96 + t", lambda i, t: (63 - i) * 96 + t),
        ("16000 + i * 65 - t * 32", lambda i, t: 16000 + i * 65 - t * 32),
        ("i / 4 * 3 + t", lambda i, t: i // 4 * 3 + t),
    ],
)
def test_accesses_of_a_loop_are_counted_each_by_itself(index: str, address_of: Callable[[int, int], int]) -> None:
    source = turns("int t = 0; t < 70; ++t", f"v[{index.replace('i', 'threadIdx.x')}]")
    c = count(source, launch("k", ["x", "y"]))
    load = next(s for s in c.sites if s.kind == "load")
    reads = [[4 * address_of(i, t) for i in range(64)] for t in range(70)]
    lines, segments = ([{start // size for start in starts} for starts in reads] for size in (128, 64))
    quads = [{start // 64 for start in starts[q : q + 4]} for starts in reads for q in range(0, 64, 4)]
    assert (load.lines, load.segments) == (sum(map(len, lines)), sum(map(len, segments)))
    assert (load.accesses, c.read_lines) == (sum(map(len, quads)), len(set().union(*lines)))


def test_scattered_lanes_are_a_line_each_and_a_sixteenth_useful() -> None:
    c = count(copy_of("float", "threadIdx.x * 1024 + blockIdx.x"), launch("k", ["x", "y"], [64]))
    load = next(s for s in c.sites if s.kind == "load")
    assert (load.lines / 64, load.segments / 64, load.accesses / 64) == (64, 64, 64)
    assert load.efficiency == 1 / 16 and c.counters["TCP_TOTAL_ACCESSES"] == 2 * 64 * 64


def test_the_second_read_of_a_line_hits_the_l1_until_it_is_pushed_out() -> None:
    body = (
        "__global__ void k(const float* x, float* y) {{ float s = 0;"
        " for (int r = 0; r < 2; ++r) for (int j = 0; j < {lines}; ++j) s += ((const volatile float*)x)[j * 32];"
        " y[threadIdx.x] = s; }}"
    )
    small = count(body.format(lines=128), launch("k", ["x", "y"]))
    large = count(body.format(lines=1024), launch("k", ["x", "y"]))
    assert small.counters["TCC_READ"] == 128 and large.counters["TCC_READ"] == 2 * 1024


def test_a_line_that_is_read_again_and_again_stays_in_the_l1() -> None:
    c = count(turns("int j = 1; j <= 1024; ++j", "v[0] + v[j * 32]"), launch("k", ["x", "y"]))
    assert c.counters["TCC_READ"] == 1 + 1024


def test_column_reads_conflict_31_ways_in_each_half_wave_and_padding_cures_it() -> None:
    flat = lds("t[i] = x[i]; __syncthreads(); y[i] = t[(i * 32) % 4096];")
    padded = lds("t[i] = x[i]; __syncthreads(); y[i] = t[i * 33];")
    assert flat.counters["SQ_LDS_BANK_CONFLICT"] == 62 and flat.counters["SQ_LDS_IDX_ACTIVE"] == 2 + 64
    assert padded.counters["SQ_LDS_BANK_CONFLICT"] == 0 and padded.counters["SQ_LDS_IDX_ACTIVE"] == 2 + 2
    assert flat.counters["SQ_INSTS_LDS"] == 2 and flat.counters["SQ_BARRIERS"] == 1


def test_one_word_for_all_lanes_is_a_broadcast_and_half_words_share_a_bank() -> None:
    same = lds("t[i] = x[i]; __syncthreads(); y[i] = t[5 + (i >> 20)];")
    halves = lds("t[i] = i; __syncthreads(); y[i] = t[i];", "_Float16 t[64]")
    assert same.counters["SQ_LDS_BANK_CONFLICT"] == halves.counters["SQ_LDS_BANK_CONFLICT"] == 0


def test_sixteen_byte_reads_take_8_phases() -> None:
    body = "t[i] = x[i]; __syncthreads(); float4 v = ((const float4*)t)[{}]; y[i] = v.w * v.y - v.x + v.z;"
    row, strided = lds(body.format("i")), lds(body.format("(i * 8) % 1024"))
    assert row.counters["SQ_INSTS_LDS"] == strided.counters["SQ_INSTS_LDS"] == 2
    assert row.counters["SQ_LDS_IDX_ACTIVE"] == 2 + 8 and row.counters["SQ_LDS_BANK_CONFLICT"] == 0
    assert strided.counters["SQ_LDS_BANK_CONFLICT"] == 8 * 7  # 128-byte rows: 8 lanes of a phase on the same 4 banks


def test_vector_members_read_one_by_one_count_as_one_wide_load() -> None:
    c = count(
        "__global__ void k(const float4* x, float* y) { int i = blockIdx.x * 64 + threadIdx.x; float4 v = x[i];"
        " y[i] = v.z * v.x + v.y / v.w; }",
        launch("k", ["x", "y"], [64]),
    )
    load = next(s for s in c.sites if s.kind == "load")
    assert (load.instructions, load.size, load.segments) == (64, 16, 64 * 16)


@pytest.mark.parametrize("kind,instructions", [("", 200), ("volatile ", 400)])
def test_neighbours_are_one_access_where_the_compiler_reads_them_by_one_instruction(
    kind: str, instructions: int
) -> None:
    reads = "for (int j = 0; j < 200; ++j) { s += v[(2 * i + 128 * j) % 4096]; s += v[(2 * i + 128 * j) % 4096 + 1]; }"
    fill = "for (int j = i; j < 4096; j += 64) t[j] = x[j]; __syncthreads();"
    c = lds(f"{fill} {kind}float* v = t; float s = 0; {reads} y[i] = s;")
    loads = [s for s in c.sites if s.kind == "lds load"]
    assert sum(s.instructions for s in loads) == instructions


def test_lanes_that_turn_a_loop_more_or_less_often_are_joined_turn_by_turn() -> None:
    c = count(turns("int j = 0; j < 3 * threadIdx.x; ++j", "v[threadIdx.x * 1024 + 5 * j]"), launch("k", ["x", "y"]))
    sums = [sum(getattr(s, n) for s in c.sites if s.kind == "load") for n in ("instructions", "lanes", "segments")]
    assert sums == [3 * 63, 3 * sum(range(64)), 3 * sum(range(64))]


def test_the_read_phases_of_16_bytes_are_not_consecutive_lanes() -> None:
    groups = lane_groups()
    read_b128, write_b128 = groups[3 * 64 : 4 * 64], groups[7 * 64 : 8 * 64]
    assert {i for i in range(64) if read_b128[i] == read_b128[0]} == {0, 1, 2, 3, 20, 21, 22, 23}
    assert {i for i in range(64) if write_b128[i] == write_b128[0]} == set(range(8))


def test_lds_atomics_to_one_word_take_turns() -> None:
    """Where the compiler does not see that it is one word: else one lane adds for all."""
    c = lds("if (i == 0) t[0] = 0; __syncthreads(); atomicAdd(&t[(int)x[i]], 1.0f); __syncthreads(); y[i] = t[0];")
    assert c.counters["SQ_LDS_BANK_CONFLICT"] == 62


def test_a_row_that_is_read_again_behind_a_barrier_needs_a_share_of_the_l1_that_holds_it() -> None:
    source = """
__global__ void k(const float* x, float* y) {
    float v = 0;
    for (int j = threadIdx.x; j < 4096; j += 256) v += x[j];
    __syncthreads();
    for (int j = threadIdx.x; j < 4096; j += 256) v *= x[j];
    y[threadIdx.x] = v;
}"""
    x, y = floats(4096), np.zeros(256, np.float32)
    misses = [
        execute(source, [launch("k", ["x", "y"], [4], [256])], {"x": x}, {"y": y}, count=True, l1_sharers=n)
        .launches[0]
        .counters["TCC_READ"]
        for n in (1, 2, 3)
    ]
    assert misses == [4 * 128, 4 * 128, 4 * 256]  # 16 KiB, of 32


def test_workgroups_are_counted_from_the_middle_of_the_grid() -> None:
    source = (
        "__global__ void k(const float* x, float* y) "
        "{ if (blockIdx.x % 99) y[blockIdx.x] = x[threadIdx.x % 32]; }"
    )  # a load of one address is a scalar one, which is not the L1's
    execution = execute(
        source,
        [launch("k", ["x", "y"], [100])],
        {"x": floats(100)},
        {"y": np.zeros(100, np.float32)},
        count=True,
        blocks=3,
    ).launches[0]  # the first and the last have nothing to do
    assert execution.recorded == 3 and execution.counters["TCC_READ"] == 100


def test_shuffles_go_through_the_lds_and_dpp_does_not() -> None:
    c = count(
        "__global__ void k(const float* x, float* y) { float v = x[threadIdx.x]; v += __shfl_xor(v, 1);"
        " int n = (int)v; y[threadIdx.x] = v + __builtin_amdgcn_mov_dpp(n, 0xB1, 15, 15, true); }",
        launch("k", ["x", "y"]),
    )
    assert c.counters["SQ_INSTS_LDS"] == 1


def test_sites_carry_the_lines_of_the_source() -> None:
    c = count(
        "\n__global__ void k(const float* x, float* y) {\n    float v = x[threadIdx.x];\n    v = v * v;\n"
        "    y[threadIdx.x] = v;\n}",
        launch("k", ["x", "y"]),
    )
    assert {(s.kind, s.line) for s in c.sites} == {("load", 4), ("store", 6)}


def test_one_more_workgroup_than_units_costs_a_second_turn() -> None:
    even, odd = (occupancy(n, 256, 0, None, MI300X) for n in (304, 305))
    assert (even.blocks_on_busiest, odd.blocks_on_busiest) == (1, 2)
    assert even.imbalance == 1.0 and odd.imbalance == pytest.approx(2 * 304 / 305)


def test_lds_and_registers_limit_the_workgroups_of_a_unit() -> None:
    assert occupancy(10**6, 256, 33000, None, MI300X).resident_blocks == 1
    assert occupancy(10**6, 256, 21845, None, MI300X).resident_blocks == 2 + (21845 <= 21504)
    registers = Resources("k", 256, 0, 16, 0, 0, 2)
    assert occupancy(10**6, 256, 0, registers, MI300X).resident_blocks == 2
    assert occupancy(10**6, 256, 0, registers, MI300X).limit == "registers"
    few = Resources("k", 64, 0, 16, 0, 0, 1)  # 1: what a launch with more LDS leaves
    small, large = (occupancy(10**6, 256, lds, few, MI300X) for lds in (17664, 65536))
    assert (small.resident_blocks, small.limit) == (3, "LDS")
    assert (large.resident_blocks, large.limit) == (1, "LDS")


def test_residents_share_the_l1_where_barriers_keep_their_waves_in_step() -> None:
    def sharers(threads: int, *barriers: int) -> int:
        launches = tuple(ResolvedLaunch(f"k{i}", (10**6, 1, 1), (threads, 1, 1), 0, ()) for i in range(len(barriers)))
        resources = [Resources(f"k{i}", 64, 0, 16, 0, 0, 8) for i in range(len(barriers))]
        with_barriers = {f"k{i}" for i, count in enumerate(barriers) if count}
        return l1_sharers(ResolvedPlan(launches, {}), resources, with_barriers, MI300X)

    assert sharers(256, 1) == 8 and sharers(1024, 1) == 2
    assert sharers(256, 0) == 1  # nothing says how soon one wave reads what another has read
    assert sharers(64, 0) == 32  # but one wave is always in step with itself
    assert sharers(256, 1, 0) == 1
