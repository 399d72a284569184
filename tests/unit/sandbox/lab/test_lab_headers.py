"""What the shipped headers give device code of libraries' numbers, pairs and names, as those libraries compute it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.lab_bench import execute, floats, launch, marked_line

SOURCE = """
#include <concepts>
#include <numbers>
#include <ranges>
#include <span>
#include <hip/amd_detail/amd_hip_fp8.h>
#include <hip/amd_detail/amd_hip_runtime.h>
#include <c10/util/complex.h>
#include <thrust/functional.h>
#include <thrust/pair.h>
#include <thrust/tuple.h>
#include <hip/hip_math_constants.h>
template <std::integral T> __device__ float kind(T) { return 1.0f; }
template <std::floating_point T> __device__ float kind(T) { return 2.0f; }
template <class T> struct is_reference : std::false_type {};
template <class T> struct is_reference<std::reference_wrapper<T>> : std::true_type {};
struct Pair { float first, second; };
__device__ __fp16 halved(__fp16 x) { return x / 2; }
extern __device__ void operator delete[](void* place) _GLIBCXX_USE_NOEXCEPT;
template <> struct std::tuple_size<Pair> : std::integral_constant<std::size_t, 2> {};
__global__ void k(float* y) {
    float a, b;
    thrust::tie(a, b) = thrust::pair<float, double>(3.0f, 4.0);
    const c10::complex<float> z = c10::complex<float>(a, b) * c10::complex<float>(0.0f, 1.0f);
    const int items[3] = {1, 2, 3};
    const std::span<const int> some = std::span(items, 3).subspan(1);
    typename std::aligned_storage<8, 8>::type room[2];
    const float all[] = {z.real(), std::conj(z).imag(), kind(1), kind(1.0f), std::numbers::pi_v<float>, HIP_PIO2_F,
                         float(std::ranges::size(items)),
                         float(some.size() + 10 * some.back()),
                         float(halved((__fp16)2.0f) + std::tuple_size_v<Pair> + is_reference<int>::value),
                         thrust::maximum<float>()(a, b),
                         float(sizeof room),
                         std::apply([](float p, float q) { return p - q; }, thrust::make_tuple(a, b))};
    if (hipThreadIdx_x < 12) y[hipBlockIdx_x * 12 + hipThreadIdx_x] = all[hipThreadIdx_x];
}"""


def test_numbers_pairs_and_names_of_libraries_are_there() -> None:
    execution = execute(SOURCE, [launch("k", ["y"])], {}, {"y": np.zeros(12, np.float32)})
    assert execution.findings == ()
    assert np.allclose(execution.outputs["y"], [-4, -3, 1, 2, math.pi, math.pi / 2, 3, 32, 3, 4, 16, -1])


@pytest.mark.parametrize(
    ("vector", "unit", "two"),
    [
        ("__bf16 __attribute__((ext_vector_type(4)))", "(__bf16)1.0f", "(__bf16)2.0f"),
        ("unsigned short __attribute__((vector_size(8)))", "0x3F80", "0x4000"),
    ],
)
def test_vectors_of_other_types_stand_for_those_of_shorts_in_matrix_instructions(
    vector: str, unit: str, two: str
) -> None:
    source = """
typedef VECTOR bf16x4;
typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void k(float* y) {
    const bf16x4 a = {ONE, 0, 0, TWO};
    floatx4 c = {0, 0, 0, 0};
    c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, a, c, 0, 0, 0);
    for (int i = 0; i < 4; ++i) y[4 * threadIdx.x + i] = c[i];
}"""
    for name, value in (("VECTOR", vector), ("ONE", unit), ("TWO", two)):
        source = source.replace(name, value)
    execution = execute(source, [launch("k", ["y"])], {}, {"y": np.zeros(256, np.float32)})
    assert execution.findings == () and (execution.outputs["y"] == 4 * (1 + 4)).all()


LIBRARY = """
#include <functional>
#include <hip/hip_fp16.h>
#include <vector_types.h>
#include <rocwmma/rocwmma.hpp>
#include <ATen/cuda/DeviceUtils.cuh>
#include <THC/THCAtomics.cuh>
extern "C" __device__ float __ocml_exp2_f32(float);
extern "C" __device__ unsigned __ockl_activelane_u32(void);
__device__ void atomicAdd(half2* place, half2 value) { *place = __hadd2(*place, value); }
__global__ void k(float* y, at::Half* sum, half2* pair) {
    const unsigned i = __ockl_get_global_id(0);
    float ones = 1.0f;
    for (int step = C10_WARP_SIZE / 2; step > 0; step /= 2) ones += WARP_SHFL_DOWN(ones, step);
    if (i < 2) sum[i] = at::Half(0.0f);
    if (i == 0) *pair = __float2half2_rn(0.0f);
    __syncthreads();
    gpuAtomicAdd(sum + 1, at::Half(0.5f));
    if (i == 0) atomicAdd(pair, __float2half2_rn(2.0f));
    int4 steps = make_int4(1, 2, 3, 4);
    steps++, --steps;
    steps <<= 1;
    const auto made = rocwmma::make_vector(ones, 5.0f);
    auto there = std::ref(ones);
    const float all[] = {__ocml_exp2_f32(3.0f), float(__ockl_activelane_u32()), __ockl_wfred_add_f32(1.0f), ones,
                         float(umin(7u, 9u)), float(ullmax(7, 9)), float((~steps).y), made[1], there.get(),
                         at::numeric_limits<float>::upper_bound(), __half2float(__ldcs((const __half*)(sum + 1)))};
    if (i == 0) for (int j = 0; j < 11; ++j) y[j] = all[j];
}"""


def test_the_names_of_device_libraries_and_of_pytorchs_device_code_are_there() -> None:
    outputs = {"y": np.zeros(11, np.float32), "sum": np.zeros(2, np.float16), "pair": np.zeros(2, np.float16)}
    execution = execute(LIBRARY, [launch("k", ["y", "sum", "pair"])], {}, outputs)
    assert execution.findings == ()
    assert np.array_equal(execution.outputs["y"], [8, 0, 64, 64, 7, 9, -5, 5, 64, math.inf, 32])
    assert execution.outputs["sum"].tolist() == [0, 32] and execution.outputs["pair"].tolist() == [2, 2]


def test_what_both_compilers_place_or_number_otherwise_is_no_difference() -> None:
    source = """
#include <hip/hip_fp16.h>
#define ROWS 8
template <int lut> __device__ int lop3(int a, int b) {
    int made;
    asm volatile("lop3.b32 %0, %1, %2, %3;" : "=r"(made) : "r"(a), "r"(b), "n"(lut));
    return made;
}
template <int start> __device__ int other(int a) {
    int made;
    asm volatile("prmt.b32 %0, %1, %2;" : "=r"(made) : "r"(a), "n"(start));
    return made;
}
__device__ int unreached(int a) { return lop3<3>(a, a) + other<2>(a); }
__global__ void k(float* y) {
    half rows[ROWS] = {};
    half more[ROWS / 2 + 1] = {};
    y[threadIdx.x] = __half2float(rows[threadIdx.x]) + __half2float(more[0]) + 1.0f;
}"""
    execution = execute(source, [launch("k", ["y"], block=[8])], {}, {"y": np.zeros(8, np.float32)})
    assert execution.findings == () and execution.outputs["y"].tolist() == [1] * 8


RACE = """
#include <functional>
template <class T, class F> __device__ void sum(T* s, F op) {
    const int i = threadIdx.x;
    for (unsigned step = blockDim.x / 2; step != 0; step /= 2) {
        if (i < step)
            s[i] = op(s[i], s[i + step]); // here
        __syncthreads();
    }
}
__global__ void k(const float* x, float* y) {
    __shared__ float s[64];
    auto read = [&](const int i) { return i < 64 ? x[i] : 0.0f; };
    s[threadIdx.x] = read(threadIdx.x);
    sum(s, std::plus<float>());
    y[threadIdx.x] = s[0];
}"""


def test_a_fault_inside_an_operator_of_the_standard_library_is_reported_at_its_call() -> None:
    execution = execute(RACE, [launch("k", ["x", "y"])], {"x": floats(64)}, {"y": np.zeros(64, np.float32)})
    assert [(f.kind, f.line) for f in execution.findings[:1]] == [("race", marked_line(RACE))]


LIBRARIES = """
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <hip/hip_fp8.h>
#include <torch/types.h>
#include <cublas_v2.h>
int opened(FILE** file);
template <class T, size_t N>
class mine : public at::GenericPackedTensorAccessorBase<T, N, at::DefaultPtrTraits, int> {
    typedef at::GenericPackedTensorAccessorBase<T, N, at::DefaultPtrTraits, int> Base;

  public:
    __device__ mine(T* data, const int* sizes, const int* strides) : Base(data, sizes, strides) {}
};
typedef torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> rows_t;
template <class T, size_t N> __device__ int extent(const at::PackedTensorAccessor64<T, N>& x) { return x.size(1); }
static_assert(std::has_single_bit(64u));
static_assert(!std::has_single_bit(0u) && std::bit_ceil(5u) == 8 && std::bit_floor(5u) == 4);
static_assert(std::rotl(0x81u, 4) == 0x810u && std::rotr(0x81u, 4) == 0x10000008u && std::bit_width(5u) == 3);
static_assert(std::countl_zero(1u) == 31 && std::countr_zero(0ul) == 64 && std::popcount(7u) == 3);
static_assert(std::round_toward_infinity == 2 && std::denorm_present == 1);
__global__ void k(float* y) {
    int exponent;
    float whole;
    rows_t rows;
    const int shape[] = {2, 4, 4, 1};
    memcpy((void*)&rows, (const void*)&y, 8);
    memcpy((char*)&rows + 8, shape, 16);
    at::PackedTensorAccessor64<float, 2> wide;
    const long extents[] = {2, 4, 4, 1};
    memcpy((char*)&wide + 8, extents, 32);
    for (int i = 0; i < 4; i++) rows[0][i] = i;
    rows[1][2] = rows[0][3] + rows.size(1) + rows[1].stride(0) + extent<float, 2>(wide);
    register __hip_fp8x4_e4m3_fnuz four(__hip_bfloat162(1, 2), __hip_bfloat162(3, 4));
    rows[1][3] = rows[1].size(0) + float4(four).z + float2(__hip_fp8x2_e4m3_fnuz(__half2(5, 6))).y;
    rows[1][0] = std::frexp(6.0f, &exponent) + exponent;
    rows[1][1] = std::ldexp(std::modf(2.25f, &whole), 2) + whole + std::signbit(-1.0);
    mine<float, 2> other(y, shape, shape + 2);
    at::PhiloxCudaState state;
    state.seed_.val = 1, state.offset_.val = 2;
    const auto [seed, offset] = at::cuda::philox::unpack(state);
    auto [low, high] = std::make_tuple(seed, 5.0f);
    high += low;
    cuComplex turned = cuCmulf(make_cuComplex(0, 1), cuConjf(make_cuFloatComplex(2, 3)));
    high += *other.data() + other.size(1) + static_cast<float>(seed + offset);
    rows[0][1] = high + cuCrealf(turned) - turned.y - 13;
}"""


def test_tensors_by_value_bits_and_parts_of_numbers_are_there() -> None:
    execution = execute(LIBRARIES, [launch("k", ["y"], block=(1,))], {}, {"y": np.zeros(8, np.float32)})
    assert execution.findings == ()
    assert execution.outputs["y"].tolist() == [0, 1, 2, 3, 3.75, 4, 12, 13]


# A library's own vectors, numbers and tuples, as rocWMMA, rocPRIM and composable kernel define them.
OWN = """
#include <cstddef>
#include <hip/hip_fp16.h>
template <> struct HIP_vector_base<_Float16, 8> {
    using Native_vec_ = _Float16 __attribute__((ext_vector_type(8)));
    using value_type = _Float16;
    Native_vec_ data;
    HIP_vector_base() = default;
    template <class... T> __host__ __device__ constexpr HIP_vector_base(T... each) : data{each...} {}
};
struct Own {
    float x;
    __host__ __device__ constexpr Own(float x = 0.0f) : x(x) {}
    __host__ bool is_close(float y) const { return std::fabs(x - y) < 1.0f; }
};
template <> __host__ __device__ constexpr Own std::numeric_limits<Own>::epsilon() noexcept { return Own(0.5f); }
template <> __host__ __device__ constexpr _Float16 std::numeric_limits<_Float16>::max() noexcept { return 7; }
struct Both { std::byte low, high; };
static_assert(std::is_copy_constructible_v<Both> && std::is_trivially_default_constructible_v<Both>);
static_assert(!std::is_copy_assignable<const Both>::value && sizeof(float3) == 12 && alignof(float4) == 16);
__global__ void k(const float4* a, float4* x, float3* y, float* z) {
    float4 v = a[threadIdx.x];
    v += 1.0f;
    x[threadIdx.x] = 2.0f * v++ - float4(0.5f);
    y[threadIdx.x] = -float3{v.x, v.y, 0} * 1;
    HIP_vector_type<_Float16, 8> h(_Float16(3));
    h += h;
    const char2 small = char2(127, 1) + char2(1, 1);
    const float all[] = {float(h.data[7]), std::numeric_limits<Own>::epsilon().x,
                         float(std::numeric_limits<_Float16>::max()),
                         v.data[1], float(small.x), float(std::to_integer<int>(std::byte{6} & std::byte{3})),
                         float(v == v), float(int2(7, 8).data.y)};
    if (threadIdx.x == 0) for (int i = 0; i < 8; ++i) z[i] = all[i];
}"""


def test_a_library_gives_vectors_and_limits_to_types_of_its_own() -> None:
    a = np.arange(256, dtype=np.float32)
    outputs = {name: np.zeros(size, np.float32) for name, size in (("x", 256), ("y", 192), ("z", 8))}
    execution = execute(OWN, [launch("k", ["a", "x", "y", "z"])], {"a": a}, outputs)
    assert execution.findings == ()
    assert np.allclose(execution.outputs["x"], 2 * (a + 1) - 0.5)
    assert np.allclose(execution.outputs["y"].reshape(64, 3)[:, :2], -(a.reshape(64, 4)[:, :2] + 2))
    assert np.allclose(execution.outputs["z"], [6, 0.5, 7, 3, -128, 2, 1, 8])
