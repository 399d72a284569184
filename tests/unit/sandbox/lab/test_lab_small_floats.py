"""8-bit floats computed in integers and PyTorch's numbers, against ml_dtypes: all codes and all rounding boundaries."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.support.lab_bench import execute, launch
from tests.unit.sandbox.lab.test_lab_fp8 import candidates

FORMATS = {
    "Float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "Float8_e5m2": ml_dtypes.float8_e5m2,
    "Float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "Float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}


@pytest.mark.parametrize("name", FORMATS)
def test_pytorchs_8_bit_floats_convert_as_numpys(name: str) -> None:
    dtype = FORMATS[name]
    x = candidates(dtype)
    x = np.concatenate([x, np.array([np.nan, 1e9, -1e9], np.float32)])
    x = np.resize(x, -(-x.size // 64) * 64)
    codes = np.arange(256, dtype=np.uint8)
    execution = execute(
        f"""#include <torch/types.h>
__global__ void k(const float* x, unsigned char* y, const unsigned char* codes, float* z) {{
    const int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = c10::{name}(x[i]).x;
    if (i < 256) z[i] = c10::{name}(codes[i], c10::{name}::from_bits());
}}""",
        [launch("k", ["x", "y", "codes", "z"], grid=[x.size // 64])],
        {"x": x, "codes": codes},
        {"y": np.zeros(x.size, np.uint8), "z": np.zeros(256, np.float32)},
    )
    assert np.array_equal(execution.outputs["z"], codes.view(dtype).astype(np.float32), equal_nan=True)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = x.astype(dtype)
    actual = execution.outputs["y"].view(dtype)
    finite = ~np.isnan(expected.astype(np.float32))
    assert np.array_equal(actual[finite].view(np.uint8), expected[finite].view(np.uint8))
    assert np.isnan(actual[~finite].astype(np.float32)).all()


def test_ocp_types_of_hip_saturate_and_pack() -> None:
    x = np.array([0.0, -0.0, 1.1, -448.0, 500.0, -1e9, 2.0**-9, 60000.0] * 8, np.float32)
    execution = execute(
        """#include <cuda_fp8.h>
__global__ void k(const float* x, unsigned char* a, unsigned char* b, float* c) {
    const int i = threadIdx.x;
    a[i] = __hip_fp8_e4m3(x[i]).__x;
    b[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E5M2);
    const float2 both = __hip_fp8x2_e4m3(float2(x[i], 2.0f));
    c[i] = both.x + both.y;
}""",
        [launch("k", ["x", "a", "b", "c"])],
        {"x": x},
        {"a": np.zeros(64, np.uint8), "b": np.zeros(64, np.uint8), "c": np.zeros(64, np.float32)},
    )
    a = np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    assert (execution.outputs["a"] == a.view(np.uint8)).all()
    assert (execution.outputs["b"] == np.clip(x, -57344, 57344).astype(ml_dtypes.float8_e5m2).view(np.uint8)).all()
    assert (execution.outputs["c"] == a.astype(np.float32) + 2).all()


def test_pytorchs_half_and_bfloat16_round_once_an_operation() -> None:
    """But for a product and a sum of halves, which the compiler makes one v_fma_f16 of; bfloat16 has no such thing."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(64).astype(np.float16) for _ in range(2))
    wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
    execution = execute(
        """#include <ATen/ATen.h>
template <class T> __device__ void all(const float* a, const float* b, float* y) {
    const T x = a[threadIdx.x], z = b[threadIdx.x];
    T sum = x + z;
    sum += x;
    y[threadIdx.x] = sum * z - x / 2;
}
__global__ void k(const float* a, const float* b, float* y, float* z) {
    all<at::Half>(a, b, y);
    all<c10::BFloat16>(a, b, z);
}""".replace("ATen/ATen.h", "torch/types.h"),
        [launch("k", ["a", "b", "y", "z"])],
        {"a": wide_a, "b": wide_b},
        {"y": np.zeros(64, np.float32), "z": np.zeros(64, np.float32)},
    )
    for name, dtype in (("y", np.dtype(np.float16)), ("z", np.dtype(ml_dtypes.bfloat16))):
        x, z = wide_a.astype(dtype), wide_b.astype(dtype)
        total = ((x + z).astype(dtype) + x).astype(dtype)
        half, product = (x / dtype.type(2)).astype(dtype), total.astype(np.float64) * z.astype(np.float64)
        if dtype != np.float16:
            product = product.astype(np.float32).astype(dtype).astype(np.float64)
        expected = (product - half.astype(np.float64)).astype(dtype)
        assert (execution.outputs[name] == expected.astype(np.float32)).all(), name


def test_the_compilers_own_bfloat16_is_rounded_once() -> None:
    source = """
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* x, const double* d, __bf16* y, __bf16* z, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = (__bf16)x[i];
  if (i < n) z[i] = (__bf16)d[i];
}
"""
    edge = 1 + 2**-8  # between two neighbours; below a double's last bits decide
    x = np.array(
        [0.0, -0.0, 1.0, edge, 1 + 3 * 2**-8, -3.3e38, 3.4e38, np.inf, -np.inf, np.nan, 1e-40, 3.14159], np.float32
    )
    d = np.array(
        [edge, edge + 2**-40, edge - 2**-40, -edge - 2**-40, 1e308, 1e-300, np.nan, 2**-133 * 1.5, 0.1, 7, -7, 3]
    )
    bf16 = np.dtype(ml_dtypes.bfloat16)
    outputs = {"y": np.zeros(12, bf16), "z": np.zeros(12, bf16)}
    execution = execute(source, [launch("k", ["x", "d", "y", "z", 12])], {"x": x, "d": d}, outputs)
    assert not execution.findings
    assert np.array_equal(execution.outputs["y"].astype(np.float32), x.astype(bf16).astype(np.float32), equal_nan=True)
    up = 1 + 2**-7
    exact = np.array([1.0, up, 1.0, -up, np.inf, 0.0, np.nan, 2**-132, 0.1, 7, -7, 3], np.float32).astype(bf16)
    assert np.array_equal(execution.outputs["z"].astype(np.float32), exact.astype(np.float32), equal_nan=True)
