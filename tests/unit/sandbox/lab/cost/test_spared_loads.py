from __future__ import annotations

from sandbox.amdgcn.blocks import BasicBlock
from sandbox.lab.cost.counters import LaunchCounters, SiteCounters
from sandbox.lab.cost.issue import executions
from sandbox.lab.cost.spared_loads import without_spared
from tasks.loader import load_task
from tests.kernels.exploits.exploits import FOLDER
from tests.support.lab_bench import evaluator

# One barrier-to-barrier step of a product. It reads each value from LDS once, or once for each product: 8 and 32 reads.
PRODUCT = """/*+++
[[launch]]
kernel = "product"
grid = ["ceil_div(n, 64)", "ceil_div(m, 64)"]
block = [16, 16]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void product(const float* a, const float* b, float* c, int m, int n,
                                                          int k) {
    __shared__ float as[16][68], bs[16][68];
    const int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int at = 0; at < k; at += 16) {
        for (int i = t; i < 1024; i += 256) {
            as[i % 16][i / 16] = row + i / 16 < m && at + i % 16 < k ? a[(row + i / 16) * k + at + i % 16] : 0.0f;
            bs[i / 64][i % 64] = at + i / 64 < k && column + i % 64 < n ? b[(at + i / 64) * n + column + i % 64] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < 16; ++s) {
// step
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (row + y * 4 + i < m && column + x * 4 + j < n)
                c[(row + y * 4 + i) * n + column + x * 4 + j] = sum[i][j];
}
"""
DIRECT = "for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) sum[i][j] += as[s][y * 4 + i] * bs[s][x * 4 + j];"
IN_REGISTERS = (
    "float p[4], q[4]; for (int i = 0; i < 4; ++i) p[i] = as[s][y * 4 + i], q[i] = bs[s][x * 4 + i];"
    "for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) sum[i][j] += p[i] * q[j];"
)


def site(line: int | None, kind: str, size: int, instructions: float) -> SiteCounters:
    return SiteCounters(line, kind, size, instructions, 0, 0, 0, 0, 0, 0, 0, 0)


def counted(waves: float, *sites: SiteCounters, barriers: float = 0) -> LaunchCounters:
    return LaunchCounters("k", 1, 64, 1, waves, barriers, 0, 0, sites)


def loads(seen: LaunchCounters) -> list[float]:
    return [each.instructions for each in seen.sites]


def test_loads_that_the_compiler_has_spared_are_not_charged_outside_of_loops() -> None:
    straight, loop = BasicBlock(1, 0, {"5:load": 16}), BasicBlock(1, 0, {"7:load": 4}, loop=1, region=1)
    load = SiteCounters(
        5, "load", 4, 16.0, 0, 0, lines=32, segments=64, misses=8, unit_clocks=64, conflicts=0, port_clocks=0
    )
    seen = without_spared(counted(1, load, site(7, "load", 4, 16)), (straight, loop))
    fewer, same = seen.sites  # of 16 loads of 4 bytes a lane the listing has one of 16
    assert (fewer.instructions, fewer.lines, fewer.segments, fewer.misses, fewer.unit_clocks) == (4, 8, 16, 8, 16)
    assert same.instructions == 16
    assert executions(seen, (straight, loop)) == [1.0, 16.0]


def test_a_loop_with_barriers_turns_as_often_as_they_say() -> None:
    loop = BasicBlock(1, 0, {"5:lds load": 8, "6:lds load": 24}, loop=1, region=1, barriers=2)
    blocks = (BasicBlock(1, 0, barriers=1), loop)
    # 10 turns; the source reads 4 + 12 words a turn, of which the compiler keeps 2 + 6, some at the other's line.
    sites = (site(5, "lds load", 4, 60), site(6, "lds load", 4, 100))
    seen = without_spared(counted(1, *sites, barriers=21), blocks)
    assert loads(seen) == [30, 50]
    assert executions(counted(1, *sites, barriers=21), blocks) == [1.0, 10.0]


def test_without_certainty_the_source_is_believed() -> None:
    inner = BasicBlock(1, 0, {"5:lds load": 8}, loop=1, region=1)
    other = BasicBlock(1, 0, {}, loop=2, region=1, barriers=1)
    sites = (site(5, "lds load", 4, 60),)
    assert loads(without_spared(counted(1, *sites, barriers=10), (BasicBlock(1, 0), inner, other))) == [60]
    assert loads(without_spared(counted(1, *sites), (BasicBlock(1, 0), inner))) == [60]


def test_a_conditional_barrier_says_nothing_of_its_loops_other_blocks() -> None:
    head = BasicBlock(1, 0, {"5:lds load": 8}, loop=1, region=1)
    rare = BasicBlock(1, 0, {"7:lds load": 4}, loop=1, region=1, barriers=1)
    sites = (site(5, "lds load", 4, 60), site(7, "lds load", 4, 6))
    seen = without_spared(counted(1, *sites, barriers=3), (BasicBlock(1, 0), head, rare))
    assert loads(seen) == [60, 3]


def test_matrix_instructions_of_a_peeled_turn_do_not_hide_the_loops() -> None:
    loop = BasicBlock(1, 0, {"5:mfma": 4, "6:lds load": 32}, loop=1, region=1)
    peeled = BasicBlock(1, 0, {"5:mfma": 4})
    sites = (SiteCounters(5, "matrix F16", 0, 36, 0, 0, 0, 0, 0, 0, 0, 0), site(6, "lds load", 16, 32))
    seen = without_spared(counted(1, *sites), (BasicBlock(1, 0), loop, peeled))
    assert loads(seen)[1] == 16  # 8 turns of 32 bytes


def test_both_ways_to_write_one_machine_code_have_one_bound() -> None:
    task = load_task(FOLDER / "tasks" / "product")
    texts = [PRODUCT.replace("// step", step) for step in (DIRECT, IN_REGISTERS)]
    times = [
        [m.resources_us["lds port"] for m in evaluator(7).estimate(evaluator(7).prepare(t, task)).measurements]
        for t in texts
    ]
    assert times[0] and times[0] == times[1]
