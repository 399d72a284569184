"""Kernels with one fault each: the right kind at the right line; the mark `// here` stands on that line."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.lab.lab import Execution
from tests.support.lab_bench import HEAD, build, execute, floats, launch, marked_line

X, Y = floats(64), np.zeros(64, np.float32)


def run(
    source: str, *, args: tuple[str | int, ...] = ("x", "y"), deadline_s: float = 20.0, block: int = 64, lds: int = 0
) -> Execution:
    return execute(source, [launch("k", args, block=[block], lds=lds)], {"x": X}, {"y": Y}, deadline_s=deadline_s)


FAULTS = {
    "one element too far": (
        "out_of_bounds",
        "x[63] (8 bytes at once)",  # the GPU's code loads both elements by one instruction
        """
__global__ void k(const float* x, float* y) {
    int i = threadIdx.x;
    float v = x[i] + x[i + 1]; // here
    y[i] = v;
}""",
    ),
    "one element before": (
        "out_of_bounds",
        "x[-1]",
        """
__global__ void k(const float* x, float* y) {
    y[threadIdx.x] = x[(int)threadIdx.x - 1]; // here
}""",
    ),
    "a store far away": (
        "out_of_bounds",
        "y[100063]",
        """
__global__ void k(const float* x, float* y) {
    if (threadIdx.x == 63) y[threadIdx.x + 100000] = 1; // here
}""",
    ),
    "a vector over the end": (
        "out_of_bounds",
        "(16 bytes at once)",
        """
__global__ void k(const float* x, float* y) {
    if (threadIdx.x == 9) {
        *(float4*)y = *(const float4*)(x + 4 * threadIdx.x + 28); // here
    }
}""",
    ),
    "static LDS": (
        "out_of_bounds",
        "index 33 of tile, an array of 33 elements",
        """
__global__ void k(const float* x, float* y) {
    __shared__ float tile[33];
    __shared__ float other[33];
    if (threadIdx.x < 33) { tile[threadIdx.x] = x[threadIdx.x]; other[threadIdx.x] = 1; }
    __syncthreads();
    if (threadIdx.x < 33)
        y[threadIdx.x] = tile[threadIdx.x + 1] + other[threadIdx.x]; // here
}""",
    ),
    "null pointer": (
        "out_of_bounds",
        "null pointer",
        """
__global__ void k(const float* x, float* y) {
    const float* p = y == nullptr ? x : nullptr;
    y[threadIdx.x] = p[threadIdx.x]; // here
}""",
    ),
    "wild pointer": (
        "out_of_bounds",
        "belongs to no buffer",
        """
__global__ void k(const float* x, float* y) {
    y[threadIdx.x] = *(const float*)0x123400ul; // here
}""",
    ),
    "input written": (
        "input_written",
        "inputs must stay",
        """
__global__ void k(float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = 0; // here
}""",
    ),
    "barrier in half a wave": (
        "divergent_barrier",
        "32 work-items",
        """
__global__ void k(const float* x, float* y) {
    if (threadIdx.x < 32)
        __syncthreads(); // here
    y[threadIdx.x] = x[threadIdx.x];
}""",
    ),
    "return before a barrier": (
        "divergent_barrier",
        "4 work-items",
        """
__global__ void k(const float* x, float* y) {
    if (threadIdx.x >= 60) return;
    __syncthreads(); // here
    y[threadIdx.x] = x[threadIdx.x];
}""",
    ),
    "two barriers in two branches": (
        "divergent_barrier",
        "32 work-items",
        """
__global__ void k(const float* x, float* y) {
    if (threadIdx.x & 1)
        __syncthreads(); // here
    else { y[0] = 1;
        __syncthreads();
    }
    y[threadIdx.x] = x[threadIdx.x];
}""",
    ),
    "misaligned vector": (
        "misaligned",
        "not a multiple",
        """
__global__ void k(const float* x, float* y) {
    long v = *(const long*)(x + 1 + 0 * threadIdx.x); // here
    y[threadIdx.x] = v;
}""",
    ),
    "division by zero": (
        "division_by_zero",
        "divides",
        """
__global__ void k(const float* x, float* y) {
    int n = (int)x[0];
    y[threadIdx.x] = 7 / n; // here
}""",
    ),
    "recursion without end": (
        "stack_overflow",
        "private memory",
        """
__device__ __noinline__ float deep(float v, int n) {
    volatile float local[64];
    local[n % 64] = v;
    return n < 0 ? v : deep(v, n + 1) + local[(n + 1) % 64]; // here
}
__global__ void k(const float* x, float* y) { y[threadIdx.x] = deep(x[threadIdx.x], 0); }""",
    ),
    "trap": (
        "wrong_result",
        "trap",
        """
__global__ void k(const float* x, float* y) {
    if (x[0] < 2) __builtin_trap(); // here
    y[threadIdx.x] = 1;
}""",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    kind, words, source = FAULTS[name]
    execution = run(source)
    reported = [(f.kind, f.line) for f in execution.findings]
    if name == "recursion without end":  # any line of the function may be the one that touches the guard page
        assert reported[0][0] == kind and reported[0][1] is not None and abs(reported[0][1] - marked_line(source)) <= 4
    else:
        assert reported == [(kind, marked_line(source))]
    assert words in execution.findings[0].message and execution.findings[0].kernel == "k"


def test_dynamic_lds_ends_where_the_launch_says() -> None:
    source = """
__global__ void k(const float* x, float* y) {
    extern __shared__ float t[];
    t[threadIdx.x] = x[threadIdx.x]; // here
    y[threadIdx.x] = t[threadIdx.x];
}"""
    assert run(source, lds=256).findings == ()
    execution = run(source, lds=252)
    assert [(f.kind, f.line) for f in execution.findings] == [("out_of_bounds", marked_line(source))]
    assert "the dynamic LDS, which has 252 bytes" in execution.findings[0].message


def test_a_loop_without_end_is_found_with_its_line_and_who_waits() -> None:
    source = """
__global__ void k(const float* x, float* y) {
    unsigned i = 0;
    if (threadIdx.x >= 64)
        while (x[i % 64] < 2) ++i; // here
    else __syncthreads();
    y[threadIdx.x % 64] = i;
}"""
    execution = run(source, deadline_s=1.0, block=128)
    assert [(f.kind, f.line) for f in execution.findings] == [("timeout", marked_line(source))]
    assert "(64,0,0)" in execution.findings[0].message and "wait" in execution.findings[0].message


def test_a_loop_that_comes_back_to_the_same_state_is_found_before_time_has_passed() -> None:
    source = """
__global__ void k(const float* x, float* y) {
    int i = 0;
    while (x[i] < 2) i = (i + 1) % 64; // here
    y[threadIdx.x] = x[i];
}"""
    execution = run(source)
    assert [(f.kind, f.line) for f in execution.findings] == [("deadlock", marked_line(source))]


def test_a_loop_of_which_the_compiler_left_nothing_is_found_at_its_kernel() -> None:
    source = """
__global__ void k(const float* x, float* y) { // here
    float sum = 0;
    while (blockDim.x > 0) sum += x[0];
    y[threadIdx.x] = sum;
}"""
    execution = run(source)
    assert {(f.kind, f.line) for f in execution.findings} == {("deadlock", marked_line(source))}


def test_a_fault_in_one_workgroup_leaves_the_others_results() -> None:
    execution = execute(
        """
__global__ void k(const float* x, float* y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i];
}""",
        [launch("k", ["x", "y"], [4])],
        {"x": floats(250)},
        {"y": np.zeros(256, np.float32)},
    )
    assert [f.kind for f in execution.findings] == ["out_of_bounds"] and execution.findings[0].buffer == "x"
    assert execution.masks["y"][:192].all() and not execution.masks["y"][192:].any()


def test_an_honest_kernel_that_looks_like_the_faulty_ones_has_no_finding() -> None:
    execution = run("""
struct Pair { float a, b; };
__constant__ float table[4] = {1, 2, 3, 4};
__device__ float global_scratch[64];
__global__ void k(const float* x, float* y) {
    __shared__ Pair tile[32];
    float local[8];
    for (int i = 0; i < 8; ++i) local[i] = x[(threadIdx.x + i) % 64];
    if (threadIdx.x < 32) tile[threadIdx.x] = Pair{local[threadIdx.x % 8], table[threadIdx.x % 4]};
    __syncthreads();
    global_scratch[threadIdx.x] = tile[threadIdx.x / 2].a;
    if (threadIdx.x < 40) { y[threadIdx.x] = global_scratch[threadIdx.x] + tile[31].b; return; }
    y[threadIdx.x] = __popcll(__ballot(1));
}""")
    assert execution.findings == () and (execution.outputs["y"][40:] == 24).all() and execution.masks["y"].all()


@pytest.mark.parametrize("call", ['open("/etc/passwd", 0)', "write(2, x, 4)", 'system("ls")'])
def test_a_function_of_the_c_library_is_not_there_for_a_kernel(call: str) -> None:
    source = f"""
extern "C" __device__ long write(int, const void*, unsigned long);
extern "C" __device__ int open(const char*, int, ...);
extern "C" __device__ int system(const char*);
__global__ void k(const float* x, float* y) {{
    y[threadIdx.x] = {call};
}}"""
    built = build(HEAD + source, [launch("k", ["x", "y"])])
    assert isinstance(built, tuple) and [f.code for f in built] == ["B.2"]
    assert call.split("(")[0] in built[0].message


def test_names_of_the_runtime_and_of_the_c_library_are_free_for_candidates() -> None:
    execution = run("""
namespace ks { __device__ __noinline__ int allow_only_listed_calls() { return 1; } }
extern "C" __device__ __noinline__ long syscall(long n) { return n + 1; }
extern "C" __device__ __noinline__ int main(int n) { return n + 2; }
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    tile[threadIdx.x] = ks::allow_only_listed_calls() + syscall(threadIdx.x);
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}""")
    assert execution.findings == () and execution.outputs["y"].tolist() == [i + 2 for i in range(64)]
