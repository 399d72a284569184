from __future__ import annotations

import numpy as np
import pytest

from tests.support.lab_bench import HEAD, build, execute, floats, launch, marked_line


def test_vector_add_with_a_partial_workgroup_writes_every_element() -> None:
    x, y = floats(1000, 1), floats(1000, 2)
    execution = execute(
        """
__global__ void add(const float* x, const float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}""",
        [launch("add", ["x", "y", "z", 1000], [4], [256])],
        {"x": x, "y": y},
        {"z": np.zeros_like(x)},
    )
    assert execution.findings == () and execution.executed == 1.0 and execution.ownership_valid
    assert np.array_equal(execution.outputs["z"], x + y) and execution.masks["z"].all()
    assert execution.accesses == 3000


def test_reduction_with_shuffles_lds_and_a_barrier() -> None:
    x = floats(64 * 256)
    execution = execute(
        """
__global__ __launch_bounds__(256) void sums(const float* x, float* y) {
    __shared__ float part[4];
    float v = x[blockIdx.x * 256 + threadIdx.x];
    for (int o = 32; o > 0; o >>= 1) v += __shfl_down(v, o);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = v;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}""",
        [launch("sums", ["x", "y"], [64], [256])],
        {"x": x},
        {"y": np.zeros(64, np.float32)},
    )
    assert execution.findings == ()
    assert np.allclose(execution.outputs["y"], x.reshape(64, 256).sum(axis=1, dtype=np.float64), rtol=1e-5)


@pytest.mark.parametrize("pad", [0, 1])
def test_tiled_transpose_through_lds(pad: int) -> None:
    x = floats(64 * 96)
    execution = execute(
        f"""
__global__ void transpose(const float* x, float* y, int rows, int cols) {{
    __shared__ float tile[32][32 + {pad}];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int r = 0; r < 32; r += 8) tile[threadIdx.y + r][threadIdx.x] = x[(row + r) * cols + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x; row = blockIdx.x * 32 + threadIdx.y;
    for (int r = 0; r < 32; r += 8) y[(row + r) * rows + col] = tile[threadIdx.x][threadIdx.y + r];
}}""",
        [launch("transpose", ["x", "y", 64, 96], [3, 2], [32, 8])],
        {"x": x},
        {"y": np.zeros_like(x)},
    )
    assert execution.findings == ()
    assert np.array_equal(execution.outputs["y"].reshape(96, 64), x.reshape(64, 96).T)


def test_dynamic_lds_under_two_names_and_types_is_one_memory() -> None:
    execution = execute(
        """
__global__ void first(int* y) {
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    y[threadIdx.x] = words[63 - threadIdx.x];
}
__global__ void second(int* y) {
    extern __shared__ short halves[];
    __shared__ int fixed[64];
    halves[2 * threadIdx.x] = threadIdx.x;
    halves[2 * threadIdx.x + 1] = 1;
    fixed[threadIdx.x] = 7;
    __syncthreads();
    y[64 + threadIdx.x] = halves[127 - threadIdx.x] + 100 * fixed[63 - threadIdx.x];
}""",
        [launch("first", ["y"], lds=256), launch("second", ["y"], lds=256)],
        {},
        {"y": np.zeros(128, np.int32)},
    )
    assert execution.findings == ()
    lanes = np.arange(64)
    other = 127 - lanes
    assert np.array_equal(execution.outputs["y"][:64], (63 - lanes) * 3)
    assert np.array_equal(execution.outputs["y"][64:], np.where(other % 2 == 0, other // 2, 1) + 700)


def test_lds_starts_as_poison_and_does_not_carry_over_from_another_workgroup() -> None:
    source = """
__global__ void k(unsigned* y) {
    __shared__ unsigned t[64];
    y[blockIdx.x * 64 + threadIdx.x] = t[threadIdx.x]; // here
    t[threadIdx.x] = 5;
}"""
    execution = execute(source, [launch("k", ["y"], [8])], {}, {"y": np.zeros(512, np.uint32)})
    assert (execution.outputs["y"] == 0xFFFFFFFF).all()
    assert [(f.kind, f.line) for f in execution.findings] == [("uninitialised", marked_line(source))]


def test_atomics_count_right_and_void_the_ownership_of_outputs() -> None:
    execution = execute(
        """
__global__ void k(unsigned* y, float* z) {
    __shared__ unsigned local;
    if (threadIdx.x == 0) local = 0;
    __syncthreads();
    atomicAdd(&local, 1u);
    __syncthreads();
    if (threadIdx.x == 0) y[2 + blockIdx.x] = local;
    if (blockIdx.x == 0 && threadIdx.x == 0) { y[0] = 0; y[1] = 0; *z = 0; }
}
__global__ void l(unsigned* y, float* z) {
    atomicAdd(&y[0], threadIdx.x);
    atomicMax(&y[1], threadIdx.x + blockIdx.x);
    atomicAdd(z, 0.5f);
}""",
        [launch("k", ["y", "z"], [10], [128]), launch("l", ["y", "z"], [10], [128])],
        {},
        {"y": np.zeros(12, np.uint32), "z": np.zeros(1, np.float32)},
    )
    assert execution.findings == () and not execution.ownership_valid
    assert execution.outputs["y"].tolist() == [10 * 127 * 64, 136, *[128] * 10]
    assert execution.outputs["z"].tolist() == [640.0]


def test_wave_operations_over_64_lanes() -> None:
    execution = execute(
        """
__global__ void k(unsigned long long* y, int* z) {
    int lane = threadIdx.x;
    y[lane] = __ballot(lane % 3 == 0);
    z[lane] = __shfl_xor(lane, 32);
    z[64 + lane] = __shfl(lane * 10, 5, 8);
    z[128 + lane] = __shfl_up(lane, 3, 16);
    z[192 + lane] = __builtin_amdgcn_readfirstlane(lane + 9);
    z[256 + lane] = __builtin_amdgcn_mov_dpp(lane, 0xB1, 0xF, 0xF, true);
    z[320 + lane] = __builtin_amdgcn_update_dpp(-1, lane, 0x111, 0xF, 0xF, false);
    z[384 + lane] = __builtin_amdgcn_ds_swizzle(lane, 0x401F);
    z[448 + lane] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    z[512 + lane] = __builtin_amdgcn_ds_permute(4 * ((lane + 1) % 64), lane);
}""",
        [launch("k", ["y", "z"])],
        {},
        {"y": np.zeros(64, np.uint64), "z": np.zeros(576, np.int32)},
    )
    lane = np.arange(64)
    expected = [
        lane ^ 32,
        (lane // 8 * 8 + 5) * 10,
        np.where(lane % 16 < 3, lane, lane - 3),
        np.full(64, 9),
        lane ^ 1,
        np.where(lane % 16 == 0, -1, lane - 1),
        lane ^ 16,
        lane,
        (lane - 1) % 64,
    ]
    assert execution.findings == ()
    assert set(execution.outputs["y"].tolist()) == {sum(1 << i for i in range(0, 64, 3))}
    for row, values in zip(execution.outputs["z"].reshape(9, 64), expected, strict=True):
        assert row.tolist() == values.tolist()


def test_collectives_in_a_divergent_branch_run_with_the_lanes_that_are_there() -> None:
    execution = execute(
        """
__global__ void k(int* y) {
    int lane = threadIdx.x, v = 0;
    if (lane < 32) v = __shfl_xor(lane, 1);
    else v = 1000 + __shfl_xor(lane, 2);
    y[lane] = v + (__ballot(1) == ~0ull ? 0 : 5000);
}""",
        [launch("k", ["y"])],
        {},
        {"y": np.zeros(64, np.int32)},
    )
    lane = np.arange(64)
    assert execution.findings == ()
    assert execution.outputs["y"].tolist() == np.where(lane < 32, lane ^ 1, 1000 + (lane ^ 2)).tolist()


def test_launches_run_in_order_and_reading_a_workspace_is_told() -> None:
    x = floats(256)
    execution = execute(
        """
__global__ void square(const float* x, float* t) { t[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }
__global__ void shift(const float* t, float* y) { y[threadIdx.x] = t[(threadIdx.x + 1) % 256]; }
""",
        [launch("square", ["x", "t"], block=[256]), launch("shift", ["t", "y"], block=[256])],
        {"x": x},
        {"y": np.zeros_like(x)},
        {"t": np.zeros_like(x)},
    )
    assert np.array_equal(execution.outputs["y"], np.roll(x * x, -1)) and not execution.ownership_valid


def test_a_spinning_wave_lets_the_others_go_on() -> None:
    execution = execute(
        """
__global__ void k(int* y) {
    __shared__ int flag;
    if (threadIdx.x == 0) __hip_atomic_store(&flag, 0, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __syncthreads();
    if (threadIdx.x / 64 == 0) {
        while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) == 0) {}
    } else if (threadIdx.x == 64) {
        __hip_atomic_store(&flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    y[threadIdx.x] = 4;
}""",
        [launch("k", ["y"], block=[128])],
        {},
        {"y": np.zeros(128, np.int32)},
    )
    assert execution.findings == () and (execution.outputs["y"] == 4).all()


def test_inline_assembly_is_executed_and_what_is_no_instruction_refused_with_its_line() -> None:
    good = """
__global__ void k(int* y) {
    __shared__ int t[64];
    t[threadIdx.x] = threadIdx.x;
    asm volatile("s_waitcnt lgkmcnt(0)\\n s_barrier" ::: "memory");
    y[threadIdx.x] = t[63 - threadIdx.x];
}"""
    execution = execute(good, [launch("k", ["y"], block=[64])], {}, {"y": np.zeros(64, np.int32)})
    assert execution.findings == () and execution.outputs["y"].tolist() == list(range(63, -1, -1))
    bad = good.replace("    asm", "    // here\n    asm").replace("s_waitcnt lgkmcnt(0)", "v_maw_b32 v0, 1")
    built = build(HEAD + bad, [launch("k", ["y"])])
    assert [f.kind for f in built] == ["compile_error"] and built[0].line == marked_line(bad) + 1
    assert "v_maw_b32" in built[0].message


def test_inline_assembly_computes_and_without_its_wait_is_found() -> None:
    source = """
__global__ void k(const int* x, int* y) {
    int v;
    asm volatile("global_load_dword %0, %1, off\\n s_waitcnt vmcnt(0)" : "=v"(v) : "v"(x + threadIdx.x));
    asm("v_mad_u32_u24 %0, %0, 3, 1" : "+v"(v)); // here
    y[threadIdx.x] = v;
}"""
    x = np.arange(64, dtype=np.int32)
    execution = execute(source, [launch("k", ["x", "y"])], {"x": x}, {"y": x.copy()})
    assert execution.findings == () and execution.outputs["y"].tolist() == (3 * x + 1).tolist()
    execution = execute(
        source.replace("\\n s_waitcnt vmcnt(0)", ""), [launch("k", ["x", "y"])], {"x": x}, {"y": x.copy()}
    )
    assert [(f.kind, f.line) for f in execution.findings] == [("missing_wait", marked_line(source))]


def test_compile_errors_carry_the_candidates_line() -> None:
    source = "\n__global__ void k(int* y) {\n    y[0] = missing; // here\n}"
    built = build(HEAD + source, [launch("k", ["y"])])
    assert built[0].kind == "compile_error" and built[0].line == marked_line(source) and "missing" in built[0].message


def test_the_kernels_macros_are_those_of_the_device() -> None:
    execution = execute(
        """
#if !defined(__gfx942__) || !defined(__HIP_DEVICE_COMPILE__) || __has_feature(address_sanitizer) \\
    || !__has_builtin(__builtin_amdgcn_ds_bpermute)
#error "the host shows through"
#endif
__global__ void k(int* y) { y[threadIdx.x] = warpSize; }""",
        [launch("k", ["y"])],
        {},
        {"y": np.zeros(64, np.int32)},
    )
    assert (execution.outputs["y"] == 64).all()


def test_a_kernel_gets_the_bits_of_an_argument_as_on_a_gpu() -> None:
    """A plan that passes a float for an int does not get an int's value."""
    execution = execute(
        "\n__global__ void k(int* y, int n, unsigned u, float f) { y[0] = n; y[1] = (int)u; y[2] = (int)f; }",
        [launch("k", ["y", 2.5, -1.0, 3.0], [1], [1])],
        {},
        {"y": np.zeros(3, np.int32)},
    )
    assert execution.findings == ()
    assert execution.outputs["y"].tolist() == [*np.array([2.5, -1.0], np.float32).view(np.int32), 3]
