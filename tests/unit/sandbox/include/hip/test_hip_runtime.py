"""The vocabulary of HIP in device code: every name compiles for gfx942, with the hardware's sizes and instructions."""

from __future__ import annotations

import hashlib

import pytest

from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.candidate.plan import Candidate, Plan
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

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


def build(compiler: Compiler, text: str) -> Compilation:
    return compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), {})


def kernel(body: str, args: str = "float* o, int* p, double* d, unsigned long long* u", name: str = "k") -> str:
    head = f'{ALL}extern "C" __global__ void __launch_bounds__(256) {name}({args})'
    return f"{head} {{\n  int i = threadIdx.x;\n{body}\n}}\n"


BODIES = [
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
    "__shared__ float t[4]; t[i & 3] = 0; __syncthreads(); atomicAdd(&t[i & 3], o[i]); __syncthreads(); o[i] = t[0];",
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
]


@pytest.fixture(scope="module")
def together(compiler: Compiler) -> Compilation:
    """All bodies as kernels of one file: the headers take longer to compile than they do."""
    kernels = [kernel("  " + body, name=f"k{number}").removeprefix(ALL) for number, body in enumerate(BODIES)]
    return build(compiler, ALL + "".join(kernels))


@pytest.mark.parametrize("body", BODIES)
def test_every_function_compiles_for_gfx942(compiler: Compiler, together: Compilation, body: str) -> None:
    name = f"k{BODIES.index(body)}"
    result = (
        together if together.ok else build(compiler, kernel("  " + body, name=name))
    )  # of all, this one may be good
    assert result.ok, result.diagnostics
    (compiled,) = (kernel for kernel in result.kernels if kernel.name == name)
    assert compiled.scratch_bytes == 0


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
