"""The instrumented build: which probes a listing has, at which lines, and what is left alone."""

from __future__ import annotations

import re
from functools import cache

import pytest

from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.machine.instrumented.fault_probe import PAGE, address_of
from sandbox.machine.instrumented.instrumented_build import InstrumentedBuild, InstrumentedListing
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD

FAULTS = """
struct Row { float v[4]; int n; };
struct Tile { float v[4]; int n; __device__ float& operator[](int i) { return v[i]; } }; // probe: out_of_bounds
typedef int int4v __attribute__((ext_vector_type(4)));
__device__ __attribute__((noinline)) void put(float* part, int at, float value) {
    part[at] = value; // probe: out_of_bounds
}
__global__ void arrays(float* x, float* y, int n) {
    __shared__ float lds[4][8];
    float own[8] = {};
    Row row = {};
    Tile tile = {};
    own[n] = 1; // probe: out_of_bounds
    put(own, n, 2);
    row.v[n] = 3; // probe: out_of_bounds
    tile[n] = 4;
    lds[n][n + 1] = 5; // probe: out_of_bounds
    float* low = &lds[0][0];
    low[n] = 6; // probe: out_of_bounds
    float4 v = ((const float4*)x)[n];
    const float* members = &v.x;
    y[0] = members[n]; // probe: out_of_bounds
    float4 w[2] = {};
    w[n] = v; // probe: out_of_bounds
    y[1] = own[n & 7] + row.v[n & 3] + tile[n & 3] + w[n & 1].x;
}
__global__ void constant_steps(float* x, float* y, int n) {
    float a[4] = {1, 2, 3, 4};
    float* p = a + 2;
    p[2] = x[0]; // probe: out_of_bounds
    y[0] = a[n & 3];
}
__global__ void vectors(float* x, float* y, int n) {
    int4v a = {n, n, n, n}, b = {1, 2, n, 4};
    y[0] = a[n]; // probe: out_of_bounds
    int4v c = a / b; // probe: division_by_zero
    y[1] = c.x;
}
__global__ void arithmetic(float* x, float* y, int n) {
    y[0] = 100 / n; // probe: division_by_zero
    y[1] = 100u % (unsigned)n; // probe: division_by_zero
    y[2] = 1 << n; // probe: shift
    y[3] = 1000l >> n; // probe: shift
    y[4] = 100 / 7 + (n >> 3);
    y[5] = __builtin_clz(n); // probe: trap
    y[6] = __builtin_ctzll(n); // probe: trap
    y[7] = __clz(n) + __ffs(n) + __ffsll((long long)n) + __builtin_clzg((unsigned)n, 32);
    y[8] = n ? __builtin_ctz(n) : 32;
}
__global__ void alignment(float* x, float* y, int n) {
    y[0] = ((const int4v*)(x + n))->x; // probe: misaligned
    float4 v = *(const float4*)(x + n); // probe: misaligned
    *(double*)(y + n) = v.x; // probe: misaligned
    y[5] = x[n] + *(const float*)(x + 8 * n);
}
__global__ void masks(float* x, float* y, int n) {
    unsigned cut = __ballot(x[n] > 0); // probe: wave_mask
    unsigned long long whole = __ballot(x[n] > 1);
    unsigned low = whole, high = whole >> 32;
    y[0] = cut + low + high;
    y[1] = __shfl_xor_sync((unsigned long)n, y[0], 1); // probe: wave_mask
    y[2] = __shfl_xor_sync(~0ull, y[0], 1);
    if (n > 7) y[3] = __builtin_amdgcn_readlane(n, (int)x[0]); // probe: divergent_collective
}
__device__ int pick(int n) {
    if (n == 3) return 1;
    if (n == 4) return 2;
    __builtin_unreachable(); // probe: trap
}
__global__ void promises(float* x, float* y, int n) {
    __builtin_assume(n % 4 == 0); // probe: trap
    y[0] = n % 4;
    y[1] = pick(n);
}
"""
RIGHT = """
struct Pair { float a[2]; float b; };
template <int N> __device__ float total(const float (&part)[N]) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += part[i];
    return sum;
}
__global__ void right(const float* x, float* y, int n) {
    __shared__ float tile[8][64];
    const int t = threadIdx.x & 63;
    float part[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) part[i] = x[t + 64 * i];
    for (int i = 0; i < 8; ++i) tile[i][t] = part[i];
    __syncthreads();
    const float4 v = ((const float4*)x)[t];
    Pair pair = {{v.x, v.y}, v.z};
    y[t] = total(part) + tile[7][63 - t] + pair.a[t & 1] + n / 4 + (n << 2);
    for (unsigned long long rest = __ballot(n > t); rest; rest &= rest - 1) y[__ffsll(rest) - 1] = 0;
}
"""
_STORE = re.compile(r"^\tglobal_store_dwordx2 v\[(\d+):(\d+)\], v\[\d+:\d+\], off$")


@cache
def listing_of(source: str, kernel: str) -> InstrumentedListing:
    plan = Plan((Launch(kernel, ("1",), ("64",), "0", ("x", "y", "n"), 1),))
    return InstrumentedBuild(toolchain(), COMPILED).build(Candidate("instrumented", HEAD + source, plan), {})


def reached(built: InstrumentedListing) -> set[tuple[str, int]]:
    """Kind and line of every probe that the listing's kernels may reach."""
    rows, probes, is_asm, line, lines = built.listing.split("\n"), set[tuple[str, int]](), False, 0, set[int]()
    for index, row in enumerate(rows):
        if row.startswith("__ubsan_handle"):
            break
        if loc := re.match(r"\t\.loc\t0 (\d+)", row):
            line = int(loc[1])
        is_asm = "#ASMSTART" in row or (is_asm and "#ASMEND" not in row)
        if is_asm and (store := _STORE.match(row)):
            low, high = (_constant(rows[:index], int(register)) for register in store.groups())
            probe = built.probes[((high << 32 | low) - PAGE) // 8]
            assert probe.line in (0, line)
            probes.add((probe.kind, line))
            lines.add(line)
    return probes


def _constant(rows: list[str], register: int) -> int:
    for row in reversed(rows):
        if match := re.match(rf"\tv_mov_b32_e32 v{register}, (\S+)$", row):
            return int(match[1], 0)
    raise AssertionError(register)


def test_each_fault_has_its_probe_at_its_line() -> None:
    built = listing_of(FAULTS, "arrays")
    assert not built.findings, built.findings
    marks = enumerate((HEAD + FAULTS).split("\n"), 1)
    expected = {(match[1], n) for n, row in marks if (match := re.search(r"// probe: (\w+)", row))}
    probes = reached(built)
    assert expected <= probes
    assert {kind for kind, _ in probes - expected} <= {"misaligned", "out_of_bounds"}  # that are right by their numbers


def test_right_code_is_tried_where_only_its_numbers_make_it_right() -> None:
    built = listing_of(RIGHT, "right")
    assert not built.findings
    assert {kind for kind, _ in reached(built)} <= {"misaligned", "out_of_bounds"}


def test_a_buffer_that_begins_behind_its_first_byte_is_tried() -> None:
    source = "__global__ void k(const float* x, float* y) { y[0] = ((const float4*)x)->x; }"
    kinds = []
    for argument in ("x", "x + 1"):
        plan = Plan((Launch("k", ("1",), ("64",), "0", (argument, "y"), 1),))
        built = InstrumentedBuild(toolchain(), COMPILED).build(Candidate("offset", HEAD + source, plan), {})
        kinds.append({kind for kind, _ in reached(built)})
    assert kinds == [set(), {"misaligned"}]


def test_an_unset_variable_is_an_undefined_register() -> None:
    source = "__global__ void k(float* x, float* y, int n) { float v; if (n) v = 1; y[0] = v; }"
    assert re.search(r"\tv_mov_b32 v\d+, ttmp0 ;", listing_of(source, "k").listing)
    set_source = source.replace("float v;", "float v = 2;")
    assert "ttmp" not in listing_of(set_source, "k").listing


def test_a_probe_knows_what_it_tries() -> None:
    probes = listing_of(FAULTS, "arrays").probes
    assert {(p.name, p.limit) for p in probes if p.kind == "out_of_bounds" and p.name} >= {("own", 8), ("lds", 32)}
    assert {p.limit for p in probes if p.kind == "shift"} == {32, 64}
    assert {p.limit for p in probes if p.kind == "misaligned"} == {4, 8, 16}
    assert address_of(0) == PAGE and address_of(2) == PAGE + 16


def test_a_trap_of_the_source_needs_no_probe() -> None:
    for trap in ("__builtin_trap()", "__trap()"):
        probes = listing_of(f"__global__ void k(float* x, float* y, int n) {{ if (n) {trap}; }}", "k").probes
        assert "unreachable" not in {probe.detail for probe in probes}


def test_release_fences_stand_where_the_source_has_them() -> None:
    source = """__global__ void k(float* x, float* y, int n) {
    y[0] = 1;
    %s;
    __builtin_amdgcn_s_barrier();
    y[1] = 1;
}"""

    def marks(fence: str) -> int:
        return listing_of(source % fence, "k").listing.count("; release fence")

    assert marks("") == marks('__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")') == 0
    assert marks('__builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront")') == 0
    assert marks("__threadfence_block()") == marks("__threadfence()") == marks("__syncthreads()") == 1
    assert marks("__hip_atomic_fetch_add((int*)x, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT)") == 1
    assert marks("__hip_atomic_fetch_add((int*)x, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)") == 0


@pytest.mark.parametrize("source", ["__global__ void k(float* x) { x[0] = nothing; }", "int extern k("])
def test_a_source_that_does_not_compile_has_findings(source: str) -> None:
    built = listing_of(source, "k")
    assert built.findings and not built.listing
