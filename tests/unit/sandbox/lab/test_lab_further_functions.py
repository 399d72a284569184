"""Seldom used functions of HIP give what the C library and numpy give."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import numpy as np
import pytest

from sandbox.candidate.host_half import without_host_half
from sandbox.candidate.parse import normalise
from tests.support.lab_bench import execute, launch

ONE: dict[str, Callable[[float], float]] = {
    "rcbrt(x)": lambda x: 1 / math.cbrt(x) if hasattr(math, "cbrt") else math.copysign(abs(x) ** (-1 / 3), x),
    "nextafter(x, 9.0)": lambda x: math.nextafter(x, 9.0),
    "scalbn(x, 5)": lambda x: 32 * x,
    "scalbln(x, -3l)": lambda x: x / 8,
    "ilogb(x)": lambda x: math.frexp(x)[1] - 1,
    "logb(x)": lambda x: math.frexp(x)[1] - 1,
    "fdim(x, 0.25)": lambda x: max(0.0, x - 0.25),
    "norm3d(x, 2.0, 3.0)": lambda x: math.sqrt(x * x + 13),
    "rnorm4d(x, 2.0, 3.0, 1.0)": lambda x: 1 / math.sqrt(x * x + 14),
    "remainder(x, 0.7)": lambda x: math.remainder(x, 0.7),
    "asinh(x)": math.asinh,
    "acosh(x * x + 1)": lambda x: math.acosh(x * x + 1),
    "atanh(x / 8)": lambda x: math.atanh(x / 8),
    "__ocml_lgamma_f64(x) + 0 * lgamma(2.0f)": math.lgamma,
    "tgamma(x)": math.gamma,
    "sinpi(x)": lambda x: math.sin(math.pi * x),
    "cospi(x)": lambda x: math.cos(math.pi * x),
    "normcdf(x)": lambda x: 0.5 * math.erfc(-x / math.sqrt(2)),
    "erf(erfinv(x / 8))": lambda x: x / 8,
    "normcdfinv((x + 8) / 16)": lambda x: statistics.NormalDist().inv_cdf((x + 8) / 16),
    "erfc(erfcinv((x + 8) / 8))": lambda x: (x + 8) / 8,
    "lround(x)": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "llrint(x)": round,
    "modf(x, &part) + 3 * part": lambda x: math.modf(x)[0] + 3 * math.modf(x)[1],
    "frexp(x, &e) + e": lambda x: sum(math.frexp(x)),
}


@pytest.mark.long
def test_mathematics_of_double() -> None:
    rows = "\n".join(f"  y[n * {index} + i] = {text};" for index, text in enumerate(ONE))
    source = f"""
extern "C" __global__ void k(const double* in, double* y, int n) {{
  const int i = threadIdx.x;
  const double x = in[i];
  double part; int e;
{rows}
}}
"""
    x = np.array([-7.3, -3.6, -1.25, -0.4, 1e-5, 0.3, 0.5, 1.0, 1.7, 2.5, 4.2, 7.9])
    execution = execute(
        source, [launch("k", ["x", "y", x.size], block=[x.size])], {"x": x}, {"y": np.zeros(len(ONE) * 12)}
    )
    assert not execution.findings
    for (text, expected), row in zip(ONE.items(), execution.outputs["y"].reshape(len(ONE), -1), strict=True):
        exact = np.array([expected(float(value)) for value in x])
        assert np.allclose(row, exact, rtol=3e-13, atol=3e-14), (text, row, exact)


def test_complex_numbers_of_the_standard_library_and_names_of_clocks() -> None:
    source = """
#include <chrono>
#include <complex.h>
using namespace std::chrono;
typedef high_resolution_clock Clock;
typedef duration<float> Seconds;
extern "C" __global__ void k(const std::complex<float>* x, std::complex<float>* y) {
  y[threadIdx.x] = std::conj(x[threadIdx.x]) * x[0] + 2.0f;
}
int main() {
  auto begun = Clock::now();
  k<<<1, 4>>>(nullptr, nullptr);
  return Seconds(Clock::now() - begun).count() > 1; }
"""
    x = np.array([1 + 2j, 0.5 - 1j, 3, -2j], np.complex64)
    text = without_host_half(source)
    assert "main" not in text
    execution = execute(
        text, [launch("k", ["x", "y"], block=[4])], {"x": x.view(np.float32)}, {"y": np.zeros(8, np.float32)}
    )
    assert not execution.findings
    assert np.allclose(execution.outputs["y"].view(np.complex64), x.conj() * x[0] + 2)


def test_halves_saturate_and_compare_without_order() -> None:
    source = """
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
__device__ __forceinline__ __hip_bfloat162 __floats2bfloat162_rn(float a, float b) {  // the file's own comes first
  return __hip_bfloat162(__float2bfloat16(a + 1), __float2bfloat16(b + 2));
}
extern "C" __global__ void k(const float* x, float* y) {
  const __half a(x[0]), b(x[1]), nan(x[2]);
  y[0] = __half2float(__hadd_sat(a, b)), y[1] = __half2float(__hfma_sat(a, b, __float2half(-9.0f)));
  y[2] = __hgtu(a, nan) + 2 * __hgt(a, nan) + 4 * __hbequ2(__half2(a, nan), __half2(a, b));
  y[3] = __half2ll_ru(b) + 10 * __half2int_rd(b), y[4] = __hisnan(__hmax_nan(a, nan));
  const __hip_bfloat162 two = __lows2bfloat162(__floats2bfloat162_rn(1, 2), __float2bfloat162_rn(7));
  y[5] = __low2float(two), y[6] = __high2float(two);
}
"""
    x = np.array([0.75, 1.5, np.nan], np.float32)
    execution = execute(source, [launch("k", ["x", "y"], block=[1])], {"x": x}, {"y": np.zeros(7, np.float32)})
    assert not execution.findings
    assert execution.outputs["y"].tolist() == [1.0, 0.0, 5.0, 12.0, 1.0, 2.0, 7.0]


def test_conversions_round_in_the_direction_that_their_name_says() -> None:
    source = """
extern "C" __global__ void k(const double* x, const long long* n, float* down, float* up, float* zero, double* high) {
  const int i = threadIdx.x;
  down[i] = __double2float_rd(x[i]), up[i] = __double2float_ru(x[i]), zero[i] = __double2float_rz(x[i]);
  down[i + 8] = __ll2float_rd(n[i]), up[i + 8] = __ll2float_ru(n[i]), zero[i + 8] = __ll2float_rz(n[i]);
  high[i] = __ll2double_ru(n[i]);
}
"""
    x = np.array([0.1, -0.1, 1.0, -3.0, 16777217.0, -16777217.0, 1 / 3, 1e-30])
    n = np.array([16777217, -16777217, 5, (1 << 62) + 1, -(1 << 62) - 1, (1 << 63) - 1, (1 << 53) + 1, 0], np.int64)
    outputs = {name: np.zeros(16, np.float32) for name in ("down", "up", "zero")} | {"high": np.zeros(8)}
    execution = execute(source, [launch("k", ["x", "n", *outputs], block=[8])], {"x": x, "n": n}, outputs)
    assert not execution.findings
    exact = [*map(float, x), *map(int, n)]
    for index, value in enumerate(exact):
        down, up, zero = (float(execution.outputs[name][index]) for name in ("down", "up", "zero"))
        assert down <= value <= up and np.nextafter(np.float32(down), np.float32(np.inf)) >= np.float32(up)
        assert zero == (down if value >= 0 else up)
    assert all(int(high) >= int(value) for high, value in zip(execution.outputs["high"], n, strict=True))
    assert execution.outputs["high"][6] == (1 << 53) + 2


def test_lanes_match_and_are_reduced() -> None:
    source = """
extern "C" __global__ void k(const int* x, unsigned long long* same, int* y) {
  const int i = threadIdx.x;
  int all;
  same[i] = __match_any_sync(~0ull, x[i]);
  same[i + 64] = __match_all_sync(~0ull, x[i] >> 4, &all) + all;
  y[i] = __reduce_add_sync(~0ull, x[i]), y[i + 64] = __reduce_max_sync(~0ull, x[i]);
  y[i + 128] = __reduce_xor_sync(~0ull, 1 << x[i]), y[i + 192] = (int)__bitextract_u64(0x123456789abcull, 12, 20);
}
"""
    x = np.random.default_rng(3).integers(0, 7, 64).astype(np.int32)
    outputs = {"same": np.zeros(128, np.uint64), "y": np.zeros(256, np.int32)}
    execution = execute(source, [launch("k", ["x", "same", "y"])], {"x": x}, outputs)
    assert not execution.findings
    for value, mask in zip(x, execution.outputs["same"], strict=False):
        assert int(mask) == sum(1 << lane for lane in range(64) if x[lane] == value)
    assert set(execution.outputs["same"][64:].tolist()) == {0}  # all lanes, and one: 2 to the 64th
    expected = (x.sum(), x.max(), np.bitwise_xor.reduce(1 << x), 0x56789)
    assert [set(row.tolist()) for row in execution.outputs["y"].reshape(4, 64)] == [{int(value)} for value in expected]


def test_bytes_and_pairs_of_images_are_rounded_saturated_and_added() -> None:
    source = """
extern "C" __global__ void k(const float* x, unsigned* y) {
  for (int i = 0; i < 6; i++) y[i] = __builtin_amdgcn_cvt_pk_u8_f32(x[i], i, 0x11223344);
  y[6] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pknorm_i16(x[0] / 4, -2.0f));
  y[7] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pk_u16(70000, 7));
  y[8] = __builtin_amdgcn_sad_u16(0x00050009, 0x00070001, 1), y[9] = __builtin_amdgcn_sad_hi_u8(0x0305, 0x0101, 9);
  y[10] = __builtin_amdgcn_msad_u8(0x09090909, 0x00020000, 1), y[11] = __builtin_amdgcn_lerp(0x0305, 0x0402, 0x0001);
}
"""
    x = np.array([2.5, 300, -1, 3.5, 0.25, np.nan], np.float32)
    execution = execute(source, [launch("k", ["x", "y"], block=[1])], {"x": x}, {"y": np.zeros(12, np.uint32)})
    assert not execution.findings
    assert [hex(word) for word in execution.outputs["y"]] == [
        *("0x11223302", "0x1122ff44", "0x11003344", "0x4223344", "0x11223300", "0x11220044"),
        *("0x80014fff", "0x7ffff", "0xb", "0x60009", "0x8", "0x304"),
    ]


def test_files_that_name_parts_of_libraries_find_them() -> None:
    source = """
#define HIPCUB_ARCH 1
#include <hipcub/backend/rocprim/block/block_scan.hpp>
#include <rocm-core/rocm_version.h>
#include <torch/torch.h>
#include <ATen/cuda/detail/KernelUtils.h>
#if ROCM_VERSION_MAJOR < 6
#error old
#endif
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ hipcub::BlockScan<int, 64>::TempStorage room;
  int sum;
  CUDA_KERNEL_ASSERT(blockDim.x == 64);
  hipcub::BlockScan<int, 64>(room).InclusiveSum(x[threadIdx.x], sum);
  CUDA_KERNEL_LOOP(i, 64) y[i] = sum;
}
"""
    x = np.arange(64, dtype=np.int32)
    execution = execute(normalise(source), [launch("k", ["x", "y"])], {"x": x}, {"y": np.zeros(64, np.int32)})
    assert not execution.findings
    assert np.array_equal(execution.outputs["y"], np.cumsum(x))
