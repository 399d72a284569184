"""Rules of the source in compiled kernels: locks within a wave, lanes that are masked off, fences, references."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from records.evaluation import Finding
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, launch

LOCKED = """
__global__ void k(const float* x, float* y) {{
    __shared__ int lock;
    __shared__ float sum;
    if (threadIdx.x == 0) lock = 0, sum = 0;
    __syncthreads();
    if ({who}) {{
        while (atomicExch(&lock, 1)) {{}}
        __threadfence_block();
        float old = __hip_atomic_load(&sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        __hip_atomic_store(&sum, old + x[threadIdx.x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        __threadfence_block();
        atomicExch(&lock, 0);
    }}
    __syncthreads();
    y[threadIdx.x] = sum;
}}"""
READ_LANE = """
__global__ void k(const float* x, float* y) {{
    int v = (int)x[threadIdx.x];
    if (threadIdx.x % 64 < 32)
        v = __builtin_amdgcn_readlane(v, {lane});
    y[threadIdx.x] = v;
}}"""
PASSED = """
__global__ void k(const float* x, float* y) {{
    int t = threadIdx.x;
    y[t] = x[t];
    {order};
    __builtin_amdgcn_s_barrier();
    float v = y[127 - t];
    __syncthreads();
    y[t] = v;
}}"""
REFERRED = """
struct Tile {{
    float value[6];
    __device__ float& operator[](int i) {{ return value[i]; }}
}};
__global__ void k(const float* x, float* y) {{
    Tile tile = {{}};
    tile[threadIdx.x % {count}] += x[0];
    y[threadIdx.x] = tile[(int)x[1]];
}}"""

TICKET = """
__device__ unsigned calls;
#define STORE(p, v) __hip_atomic_store(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define LOAD(p) __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
__global__ void k(const float* x, float* y) {{
    if (threadIdx.x == 0) {{
        STORE(y + blockIdx.x, x[blockIdx.x]);
        if (__hip_atomic_fetch_add(&calls, 1, {order}, __HIP_MEMORY_SCOPE_AGENT) == 1)
            y[2] = LOAD(y) + LOAD(y + 1), calls = 0;
    }}
}}"""


@cache
def lab() -> MachineLab:
    return MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=1)


def findings(source: str, grid: int = 1) -> tuple[Finding, ...]:
    """What is said when 128 work-items run kernel k(x, y)."""
    plan = ResolvedPlan((launch("k", ["x", "y"], [grid], [128]),), {})
    program = lab().build(Candidate("k", HEAD + source, Plan((Launch("k", ("1",), ("1",), "0", ("a", "a"), 1),))), {})
    assert isinstance(program, LabProgram), program
    x = np.arange(128, dtype=np.float32)
    buffers = (Buffer("x", x, "input"), Buffer("y", np.zeros(128, np.float32), "output"))
    return lab().execute(ExecutionRequest(program, plan, buffers, deadline_s=20)).findings


def test_lanes_of_one_wave_that_wait_for_each_other_never_go_on() -> None:
    assert [finding.kind for finding in findings(LOCKED.format(who="true"))] == ["deadlock"]
    assert findings(LOCKED.format(who="threadIdx.x % 64 == 0")) == ()


def test_a_lane_that_is_masked_off_is_not_read() -> None:
    reported = findings(READ_LANE.format(lane=40))
    assert [(finding.kind, finding.line) for finding in reported] == [("divergent_collective", 6)]
    assert findings(READ_LANE.format(lane=4)) == ()


@pytest.mark.parametrize("order", ["__threadfence_block()", "__builtin_amdgcn_s_waitcnt(0)"])
def test_a_raw_barrier_hands_on_stores_that_were_fenced_or_waited_for(order: str) -> None:
    assert [(finding.kind, finding.line) for finding in findings(PASSED.format(order=""))] == [("undrained_barrier", 8)]
    assert findings(PASSED.format(order=order)) == ()


def test_an_index_is_wrong_where_the_reference_is_asked_for() -> None:
    assert [(finding.kind, finding.line) for finding in findings(REFERRED.format(count=7))] == [("out_of_bounds", 9)]
    assert findings(REFERRED.format(count=6)) == ()


def test_a_race_is_told_by_what_is_raced_for() -> None:
    source = """
__device__ unsigned calls;
__global__ void k(const float* x, float* y) {
    y[threadIdx.x] = calls + x[0];
    if (threadIdx.x == 0) calls = 0, atomicAdd(&calls, 1);
}"""
    (finding,) = findings(source)
    assert finding.kind == "race" and "a variable of the file" in finding.message and finding.buffer is None
    (relaxed,) = findings(TICKET.format(order="__ATOMIC_RELAXED"), grid=2)
    assert relaxed.kind == "race" and "does not wait for it" in relaxed.message
    assert findings(TICKET.format(order="__ATOMIC_ACQ_REL"), grid=2) == ()


PRIVATE = """
{before}
__global__ {attribute} void k(const float* x, float* y) {{
    float own[4] = {{1, 2, 3, 4}};
    own[(int)x[4] + (threadIdx.x & 1)] = x[0];
    y[threadIdx.x] = own[threadIdx.x & 3];
}}"""


@pytest.mark.parametrize(
    "attribute",
    ["", '__attribute__((no_sanitize("array-bounds", "local-bounds")))', '[[clang::__no_sanitize__("undefined")]]'],
)
def test_no_word_of_the_source_turns_probes_off(attribute: str) -> None:
    reported = findings(PRIVATE.format(before="", attribute=attribute))
    assert [(finding.kind, finding.line) for finding in reported] == [("out_of_bounds", 6)]


def test_a_source_that_fails_with_probes_only_asks_how_it_is_compiled() -> None:
    (finding,) = findings(
        PRIVATE.format(before="#if __has_feature(undefined_behavior_sanitizer)\n#error\n#endif", attribute="")
    )
    assert finding.kind == "compile_error" and "asks how it is compiled" in finding.message


def test_a_trap_of_the_source_is_told_as_one() -> None:
    source = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[0]; if (x[1] > 0) __trap(); }"
    (finding,) = findings(source)
    assert finding.kind == "wrong_result" and "executed a trap" in finding.message
