"""What the shipped headers give device code of libraries' numbers, pairs and names, as those libraries compute it."""

from __future__ import annotations

import math

import numpy as np

from tests.support.lab_bench import execute, launch

SOURCE = """
#include <concepts>
#include <numbers>
#include <ranges>
#include <c10/util/complex.h>
#include <thrust/functional.h>
#include <thrust/pair.h>
#include <thrust/tuple.h>
#include <hip/hip_math_constants.h>
template <std::integral T> __device__ float kind(T) { return 1.0f; }
template <std::floating_point T> __device__ float kind(T) { return 2.0f; }
__global__ void k(float* y) {
    float a, b;
    thrust::tie(a, b) = thrust::pair<float, double>(3.0f, 4.0);
    const c10::complex<float> z = c10::complex<float>(a, b) * c10::complex<float>(0.0f, 1.0f);
    const int items[3] = {};
    typename std::aligned_storage<8, 8>::type room[2];
    const float all[] = {z.real(), std::conj(z).imag(), kind(1), kind(1.0f), std::numbers::pi_v<float>, HIP_PIO2_F,
                         float(std::ranges::size(items)), thrust::maximum<float>()(a, b), float(sizeof room),
                         std::apply([](float p, float q) { return p - q; }, thrust::make_tuple(a, b))};
    if (hipThreadIdx_x < 10) y[hipBlockIdx_x * 10 + hipThreadIdx_x] = all[hipThreadIdx_x];
}"""


def test_numbers_pairs_and_names_of_libraries_are_there() -> None:
    done = execute(SOURCE, [launch("k", ["y"])], {}, {"y": np.zeros(10, np.float32)})
    assert done.findings == ()
    assert np.allclose(done.outputs["y"], [-4, -3, 1, 2, math.pi, math.pi / 2, 3, 4, 16, -1])


def test_vectors_of_bfloat16_stand_for_those_of_shorts_in_matrix_instructions() -> None:
    source = """
typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef __bf16 bf16x4 __attribute__((ext_vector_type(4)));
__global__ void k(float* y) {
    const bf16x4 a = {(__bf16)1.0f, (__bf16)0.0f, (__bf16)0.0f, (__bf16)2.0f};
    floatx4 c = {0, 0, 0, 0};
    c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, a, c, 0, 0, 0);
    for (int i = 0; i < 4; ++i) y[4 * threadIdx.x + i] = c[i];
}"""
    done = execute(source, [launch("k", ["y"])], {}, {"y": np.zeros(256, np.float32)})
    assert done.findings == () and (done.outputs["y"] == 4 * (1 + 4)).all()
