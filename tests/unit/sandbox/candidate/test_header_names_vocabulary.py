from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.amdgcn.front_end import INCLUDE
from sandbox.candidate.plan import Candidate, Plan
from sandbox.process import ProcessLimits, run
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

DATA = Path(__file__).parents[3] / "data" / "headers"
LIMITS = ProcessLimits(cpu_s=60)
ALL = "".join(
    f"#include <hip/{name}>\n" for name in ("hip_runtime.h", "hip_fp16.h", "hip_bf16.h", "hip_bfloat16.h", "hip_fp8.h")
)


OF_ONE = """expf exp2f exp10f logf log2f log10f sqrtf rsqrtf fabsf floorf ceilf truncf rintf roundf nearbyintf sinf cosf
    tanf tanhf sinhf coshf expm1f log1pf erff erfcf normcdff atanf cbrtf __expf __exp10f __logf __log2f __log10f __sinf
    __cosf __tanf __frcp_rn __fsqrt_rn __saturatef exp log sqrt fabs floor ceil abs sin cos tanh rsqrt"""
OF_TWO = "powf fmaxf fminf max min fmodf copysignf atan2f hypotf fdimf __powf __fdividef __fadd_rn __fmul_rn pow"
OF_DOUBLE = "sqrt fabs floor ceil trunc rint rsqrt abs"
ATOMICS = "atomicAdd atomicMin atomicMax atomicExch atomicAnd atomicOr atomicXor atomicSub"
STANDARD = "algorithm cfloat climits cmath cstddef cstdint limits type_traits utility math.h float.h stdint.h"


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(toolchain(), COMPILED, load_target("mi300x"))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The device headers built for this machine, one thread, with this machine's expf, logf and exp2f."""
    folder = tmp_path_factory.mktemp("host")
    tools = toolchain()
    clang_headers = tools.zig.parent / "lib" / "include"
    for argv in (
        tools.command(
            "clang",
            "-x",
            "c++",
            "-std=c++20",
            "-target",
            "x86_64-linux-gnu",
            "-O1",
            "-fPIC",
            "-march=x86-64-v3",
            "-DKS_LAB=1",
            "-fdeclspec",
            "-ffreestanding",
            "-nostdinc",
            "-isystem",
            str(DATA),
            "-isystem",
            str(INCLUDE),
            "-isystem",
            str(clang_headers),
            "-c",
            str(DATA / "maths.cpp"),
            "-o",
            "maths.o",
        ),
        tools.command("ld.lld", "-shared", "maths.o", "-o", "maths.so"),
    ):
        done = run(argv, cwd=folder, env=tools.environment(), timeout_s=60, limits=LIMITS)
        assert done.returncode == 0, done.stderr
    ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(folder / "maths.so"))


def call(host: ctypes.CDLL, name: str, x: Any, y: Any = 0.0) -> np.ndarray[Any, Any]:
    first, second = (np.ascontiguousarray(a, np.float32) for a in np.broadcast_arrays(x, y))
    out = np.empty_like(first)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (first, second, out)]
    getattr(host, name)(*pointers, ctypes.c_long(first.size))
    return out


def build(compiler: Compiler, text: str) -> Compilation:
    return compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), {})


def grid(low: float, high: float, count: int = 20001) -> np.ndarray[Any, Any]:
    return np.linspace(low, high, count).astype(np.float32)


erf, erfc = np.vectorize(math.erf), np.vectorize(math.erfc)


@pytest.mark.parametrize(
    ("name", "exact", "low", "high", "ulps"),
    [
        ("test_sin", np.sin, -3.0, 3.0, 2),
        ("test_cos", np.cos, -1.5, 1.5, 2),
        ("test_tanh", np.tanh, -12.0, 12.0, 4),
        ("test_tanh", np.tanh, -1e-3, 1e-3, 4),
        ("test_sinh", np.sinh, -20.0, 20.0, 4),
        ("test_cosh", np.cosh, -20.0, 20.0, 4),
        ("test_expm1", np.expm1, -0.5, 0.5, 4),
        ("test_expm1", np.expm1, 0.5, 20.0, 4),
        ("test_log1p", np.log1p, -0.9, 9.0, 4),
        ("test_log1p", np.log1p, -1e-4, 1e-4, 4),
        ("test_erf", erf, -0.75, 0.75, 4),
        ("test_erf", erf, 0.75, 5.0, 4),
        ("test_erfc", erfc, -2.0, 0.7, 8),
        ("test_atan", np.arctan, -20.0, 20.0, 4),
        ("test_cbrt", np.cbrt, 1e-3, 1e3, 4),
        ("test_exp10", lambda x: 10.0**x, -3.0, 3.0, 8),
    ],
)
def test_maths_is_close_to_float64(
    host: ctypes.CDLL, name: str, exact: Callable[..., Any], low: float, high: float, ulps: float
) -> None:
    x = grid(low, high)
    wanted = exact(x.astype(np.float64))
    error = np.abs(call(host, name, x) - wanted) / np.maximum(np.spacing(np.abs(wanted).astype(np.float32)), 1e-30)
    assert np.max(error) <= ulps, (x[np.argmax(error)], np.max(error))


def test_sine_and_cosine_of_large_arguments(host: ctypes.CDLL) -> None:
    x = grid(-1e5, 1e5, 40001)
    assert np.max(np.abs(call(host, "test_sin", x) - np.sin(x.astype(np.float64)))) < 2e-7
    assert np.max(np.abs(call(host, "test_cos", x) - np.cos(x.astype(np.float64)))) < 2e-7


def test_complement_of_the_error_function_keeps_relative_accuracy(host: ctypes.CDLL) -> None:
    x = grid(0.7, 8.0)
    assert np.max(np.abs(call(host, "test_erfc", x) / erfc(x.astype(np.float64)) - 1)) < 2e-5


def test_power_over_a_wide_range(host: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    x = np.exp(rng.uniform(-20, 20, 50000)).astype(np.float32)
    y = rng.uniform(-4, 4, 50000).astype(np.float32)
    wanted = np.power(x.astype(np.float64), y.astype(np.float64))
    assert np.max(np.abs(call(host, "test_pow", x, y) / wanted - 1)) < 3 * 2**-23


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (0.0, 2.0),
        (0.0, -2.0),
        (-0.0, 3.0),
        (-0.0, -3.0),
        (-2.0, 3.0),
        (-2.0, 2.0),
        (-2.0, 0.5),
        (1.0, np.nan),
        (np.nan, 0.0),
        (np.nan, 1.0),
        (np.inf, 2.0),
        (np.inf, -2.0),
        (-np.inf, 3.0),
        (-np.inf, -3.0),
        (2.0, np.inf),
        (0.5, np.inf),
        (2.0, -np.inf),
        (-1.0, np.inf),
        (10.0, 60.0),
        (10.0, -60.0),
        (1e-40, 0.5),
    ],
)
def test_power_at_its_edges(host: ctypes.CDLL, x: float, y: float) -> None:
    with np.errstate(all="ignore"):
        wanted = np.float32(np.power(np.float32(x), np.float64(y)))
    assert np.allclose(call(host, "test_pow", [x], [y])[0], wanted, rtol=1e-6, atol=0, equal_nan=True)
    assert np.signbit(call(host, "test_pow", [x], [y])[0]) == np.signbit(wanted) or np.isnan(wanted)


def test_angles_in_all_quadrants(host: ctypes.CDLL) -> None:
    y, x = (a.ravel() for a in np.meshgrid(grid(-3, 3, 101), grid(-3, 3, 101)))
    assert np.max(np.abs(call(host, "test_atan2", y, x) - np.arctan2(y.astype(np.float64), x))) < 6e-7
    assert np.allclose(call(host, "test_hypot", x, y), np.hypot(x, y), rtol=2e-7)


@pytest.mark.parametrize("name", ["test_tanh", "test_erf", "test_expm1", "test_atan"])
def test_nan_stays_and_zero_keeps_its_sign(host: ctypes.CDLL, name: str) -> None:
    nan, zero, minus = call(host, name, [np.nan, 0.0, -0.0])
    assert np.isnan(nan)
    assert (zero, minus) == (0.0, 0.0)
    assert np.signbit(minus)


def patterns() -> np.ndarray[Any, Any]:
    bits = np.random.default_rng(2).integers(0, 2**32, 200000, dtype=np.uint64).astype(np.uint32)
    ties = (np.arange(65536, dtype=np.uint32) << 16) | 0x8000
    return np.concatenate([bits, ties, ties + 1, ties - 1]).view(np.float32)


@pytest.mark.parametrize(("name", "dtype"), [("test_bf16", ml_dtypes.bfloat16), ("test_half", np.float16)])
def test_conversions_round_to_nearest_even(host: ctypes.CDLL, name: str, dtype: Any) -> None:
    x = patterns()
    with np.errstate(all="ignore"):
        wanted = x.astype(dtype).astype(np.float32)
    found = call(host, name, x)
    assert np.array_equal(found, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(found[~np.isnan(x)]), np.signbit(wanted[~np.isnan(x)]))


def test_narrow_arithmetic_rounds_after_every_operation(host: ctypes.CDLL) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 20000)).astype(np.float32)
    with np.errstate(all="ignore"):
        bx, by = x.astype(ml_dtypes.bfloat16), y.astype(ml_dtypes.bfloat16)
        assert np.array_equal(call(host, "test_bf16_fma", x, y), (bx * by + bx).astype(np.float32))
        hx, hy = x.astype(np.float16), y.astype(np.float16)
        assert np.array_equal(call(host, "test_half_add", x, y), (hx + hy).astype(np.float32))
        assert np.array_equal(call(host, "test_half2", x, y), (hx * hy).astype(np.float32))
    assert call(host, "test_saturate", [-1.0, 0.25, 7.0]).tolist() == [0.0, 0.25, 1.0]


@pytest.mark.parametrize(
    ("which", "arguments", "wanted"),
    [
        (0, (0xF0F0, 0, 0), 8),
        (1, (1, 0, 0), 31),
        (1, (0, 0, 0), 32),
        (2, (0, 0, 0), 0),
        (2, (8, 0, 0), 4),
        (3, (1, 0, 0), 1 << 31),
        (4, (0x80000000, 6, 0), 3),
        (5, (0xFFFFFFFF, 1, 0), 0xFFFFFFFF),
        (6, (0x33221100, 0x77665544, 0x7410), 0x77441100),
        (7, (0x89ABCDEF, 0x01234567, 8), 0x23456789),
        (8, (0x89ABCDEF, 0x01234567, 8), 0x6789ABCD),
        (9, (0xFF000003, 5, 0), 15),
        (10, (0, 1, 0), 63),
        (11, (1, 0, 0), 33),
    ],
)
def test_bit_functions(host: ctypes.CDLL, which: int, arguments: tuple[int, int, int], wanted: int) -> None:
    host.bits.restype = ctypes.c_uint
    assert host.bits(which, *(ctypes.c_uint(a) for a in arguments)) == wanted


def kernel(body: str, args: str = "float* o, int* p, double* d, unsigned long long* u") -> str:
    return f'{ALL}extern "C" __global__ void __launch_bounds__(256) k({args}) {{\n  int i = threadIdx.x;\n{body}\n}}\n'


@pytest.mark.parametrize(
    "body",
    [
        *(f"o[i] = {name}(o[i]);" for name in OF_ONE.split()),
        *(f"o[i] = {name}(o[i], o[i + 1]);" for name in OF_TWO.split()),
        *(f"d[i] = {name}(d[i]);" for name in OF_DOUBLE.split()),
        "d[i] = fma(d[i], d[i + 1], max(d[2], min(d[3], 1.0)));",
        "o[i] = fmaf(o[i], o[i + 1], o[i + 2]);",
        "float s, c; sincosf(o[i], &s, &c); o[i] = s + c;",
        "o[i] = isnan(o[i]) || isinf(o[i]) || !isfinite(d[i]) || signbit(o[i]);",
        "p[i] = min(p[i], 3) + max(3u, threadIdx.x) + abs(p[i]) + min(i, 7u);",
        "o[i] = __shfl(o[i], 3) + __shfl_up(o[i], 1) + __shfl_down(o[i], 1, 32) + __shfl_xor(o[i], 4, 16);",
        "d[i] = __shfl_xor(d[i], 1); u[i] = __shfl(u[i], 0); p[i] = __shfl_down(p[i], 2);",
        "o[i] = __half2float(__shfl_xor(__half(o[i]), 1)) + __bfloat162float(__shfl_down(__float2bfloat16(o[i]), 1));",
        "o[i] = __shfl_xor_sync(~0ull, o[i], 1) + __shfl_sync(~0ull, o[i], 0) + __shfl_down_sync(~0ull, o[i], 1);",
        "u[i] = __ballot(p[i]) + __ballot_sync(~0ull, p[i]) + __activemask(); p[i] = __any(p[i]) + __all(p[i]) + "
        "__lane_id();",
        "p[i] = __syncthreads_count(p[i] > 2) + __syncthreads_or(p[i]) + __syncthreads_and(p[i]);",
        "p[i] = __popcll(u[i]) + __ffsll(u[i]) + __clzll(p[i]) + __popc(p[i]) + __brev(3u) + warpSize; u[i] = "
        "__brevll(u[i]);",
        "__threadfence(); __threadfence_block(); __threadfence_system(); __syncwarp();",
        *(f"{name}(p, i); {name}((unsigned*)p, 3u); {name}(u, 5ull);" for name in ATOMICS.split()),
        "atomicAdd(o, 1.0f); atomicAdd(d, 1.0); atomicMax(o, 2.0f); atomicMin(d, 1.0); atomicExch(o, 1.0f);",
        "p[i] = atomicCAS(p, 1, 2); u[i] = atomicCAS(u, 1ull, 2ull); atomicInc((unsigned*)p, 7u); "
        "atomicDec((unsigned*)p, 7u);",
        "__shared__ float t[4]; t[i & 3] = 0; __syncthreads(); atomicAdd(&t[i & 3], o[i]); __syncthreads(); "
        "o[i] = t[0];",
        "float4 v = *reinterpret_cast<float4*>(o); v *= 2.0f; v += make_float4(1, 2, 3, 4); v = v - v / 3.0f; o[i] = "
        "v.x + v.w;",
        "int2 a = make_int2(1, i), b{3, 4}; a = (a + b) * 2 % 5; a <<= 1; p[i] = a.x ^ a.y; uint3 c = blockIdx; p[0] = "
        "c.x;",
        "dim3 g = gridDim, b(2, 3); p[i] = g.x * blockDim.y + b.z + gridDim.z;",
        "double2 v = {1.0, d[i]}; d[i] = (v * v).y;",
        'assert(i < 3); printf("%d\\n", i); p[i] = INT_MAX; o[i] = FLT_MAX + M_PI + INFINITY;',
        "uint8_t a = 3; int64_t b = 4; size_t c = sizeof(uint32_t); p[i] = a + b + c; uint e = 3; p[1] = e;",
        "p[i] = __float_as_int(o[i]) + __float2int_rn(o[i]) + __double2hiint(d[i]); o[i] = __int_as_float(p[i]) + "
        "__ldg(&o[3]);",
    ],
)
def test_every_function_compiles_for_gfx942(compiler: Compiler, body: str) -> None:
    result = build(compiler, kernel("  " + body))
    assert result.ok, result.diagnostics
    assert result.kernels[0].scratch_bytes == 0


def test_types_have_the_sizes_and_alignments_of_hip(compiler: Compiler) -> None:
    sizes = {
        "float2": (8, 8),
        "float3": (12, 4),
        "float4": (16, 16),
        "double2": (16, 16),
        "int4": (16, 16),
        "char4": (4, 4),
        "ushort2": (4, 4),
        "uint3": (12, 4),
        "longlong2": (16, 16),
        "__half": (2, 2),
        "__half2": (4, 4),
        "dim3": (12, 4),
        "__hip_bfloat16": (2, 2),
        "__hip_bfloat162": (4, 4),
        "hip_bfloat16": (2, 2),
        "__hip_fp8_e4m3_fnuz": (1, 1),
        "__hip_fp8x4_e5m2_fnuz": (4, 4),
    }
    facts = "".join(f"static_assert(sizeof({t}) == {s} && alignof({t}) == {a});\n" for t, (s, a) in sizes.items())
    trivial = "".join(
        f"static_assert(__is_trivially_constructible({t}) && __is_trivially_copyable({t}));\n"
        for t in sizes
        if t != "dim3"
    )
    result = build(compiler, ALL + facts + trivial + 'extern "C" __global__ void k() {}\n')
    assert result.ok, result.diagnostics


def test_indices_are_plain_unsigned(compiler: Compiler) -> None:
    text = (
        ALL
        + "template <class T> __device__ constexpr bool is_unsigned(T) { return __is_same(T, unsigned); }\n"
        + (
            'extern "C" __global__ void k(int* p) {\n  static_assert(__is_same(decltype(is_unsigned(threadIdx.x)), '
            "bool));\n"
            "  p[0] = is_unsigned(threadIdx.x) && is_unsigned(blockIdx.y) && is_unsigned(blockDim.z) && "
            "is_unsigned(gridDim.x);\n}\n"
        )
    )
    result = build(compiler, text)
    assert result.ok, result.diagnostics
    assert "v_mov_b32_e32 v1, 1\n" in result.listing


@pytest.mark.parametrize(
    ("body", "instruction"),
    [
        ("o[i] = __shfl_xor(o[i], 1);", "ds_bpermute_b32"),
        ("o[i] = __expf(o[i]);", "v_exp_f32"),
        ("unsafeAtomicAdd(o, 1.0f);", "global_atomic_add_f32"),
        ("unsafeAtomicAdd(d, 1.0);", "global_atomic_add_f64"),
        ("*(float4*)(o + 4 * i) = *(float4*)(o + 4 * i + 1024);", "global_load_dwordx4"),
        ("*(float4*)(o + 4 * i) = *(float4*)(o + 4 * i + 1024);", "global_store_dwordx4"),
        ("o[i] = float(((__hip_fp8_e4m3_fnuz*)p)[i]);", "v_cvt_f32_fp8"),
        ("((__hip_fp8_e5m2_fnuz*)p)[i] = __hip_fp8_e5m2_fnuz(o[i]);", "v_cvt_pk_bf8_f32"),
        ("float2 v = ((__hip_fp8x2_e4m3_fnuz*)p)[i]; o[i] = v.x + v.y;", "v_cvt_pk_f32_fp8"),
        ("__half2* h = (__half2*)p; h[i] = __hfma2(h[i], h[i + 1], h[i + 2]);", "v_pk_fma_f16"),
        ("__syncthreads(); o[i] = 1;", "s_barrier"),
        ("o[i] = __saturatef(o[i] * 2);", "clamp"),
        (
            "__shared__ int t[64]; t[i] = 0; __syncthreads(); atomicAdd(&t[i / 2], i); __syncthreads(); p[i] = t[i];",
            "ds_add_u32",
        ),
    ],
)
def test_functions_become_the_instructions_of_the_hardware(compiler: Compiler, body: str, instruction: str) -> None:
    result = build(compiler, kernel(body))
    assert result.ok, result.diagnostics
    assert instruction in result.listing


def test_a_barrier_drains_lds_first(compiler: Compiler) -> None:
    listing = build(
        compiler, kernel("  __shared__ float t[256]; t[i] = o[i]; __syncthreads(); o[i] = t[255 - i];")
    ).listing
    before = listing[: listing.index("s_barrier")].rstrip().split("\n")
    assert any("lgkmcnt(0)" in line for line in before[-3:])


def test_the_small_standard_headers_serve_device_code(compiler: Compiler) -> None:
    names = STANDARD.split()
    for order in (names, names[::-1]):
        text = (
            "".join(f"#include <{name}>\n" for name in order)
            + ALL
            + """
template <class T> __device__ std::enable_if_t<std::is_integral_v<T>, T> twice(T x) { return 2 * x; }
extern "C" __global__ void k(float* o, std::uint32_t* p) {
  static_assert(std::is_same_v<std::remove_cvref_t<const int&>, int> && std::numeric_limits<int>::max() == INT_MAX);
  static_assert(std::min(3, 4) + std::max(5, 4) + std::clamp(9, 1, 2) == 10);
  float a = o[0], b = std::sqrt(o[1]) + std::fabs(o[2]);
  std::swap(a, b);
  o[0] = std::max(a, -std::numeric_limits<float>::infinity()) + b + FLT_MAX + std::exp(a);
  p[0] = twice(p[1]) + std::numeric_limits<unsigned>::max();
}
"""
        )
        result = build(compiler, text)
        assert result.ok, result.diagnostics
