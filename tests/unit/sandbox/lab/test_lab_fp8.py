"""FNUZ conversions against ml_dtypes: all codes, all rounding boundaries."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from tests.support.lab_bench import execute, launch

FORMATS = {"fp8": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2fnuz}


def candidates(dtype: Any) -> npt.NDArray[np.float32]:
    """Every value of the format, every midpoint between neighbours, and the float32 next to each."""
    finite = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    finite = np.unique(finite[np.isfinite(finite)])
    middle = (finite[1:] + finite[:-1]) / 2
    points = np.concatenate([finite, middle])
    near = np.concatenate([points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(-np.inf))])
    rng = np.random.default_rng(3)
    spread = (rng.standard_normal(2000) * np.exp2(rng.integers(-24, 20, 2000))).astype(np.float32)
    return np.concatenate([near, spread, np.array([0.0, -0.0], np.float32)])


@pytest.mark.parametrize("name", FORMATS)
def test_all_codes_decode(name: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    execution = execute(
        f"""
__global__ void k(const int* x, float* y, float* z) {{
    int word = x[threadIdx.x];
    y[4 * threadIdx.x + 0] = __builtin_amdgcn_cvt_f32_{name}(word, 0);
    y[4 * threadIdx.x + 1] = __builtin_amdgcn_cvt_f32_{name}(word, 1);
    y[4 * threadIdx.x + 2] = __builtin_amdgcn_cvt_f32_{name}(word, 2);
    y[4 * threadIdx.x + 3] = __builtin_amdgcn_cvt_f32_{name}(word, 3);
    auto low = __builtin_amdgcn_cvt_pk_f32_{name}(word, false), high = __builtin_amdgcn_cvt_pk_f32_{name}(word, true);
    z[4 * threadIdx.x + 0] = low[0]; z[4 * threadIdx.x + 1] = low[1];
    z[4 * threadIdx.x + 2] = high[0]; z[4 * threadIdx.x + 3] = high[1];
}}""",
        [launch("k", ["x", "y", "z"])],
        {"x": codes.view(np.int32)},
        {"y": np.zeros(256, np.float32), "z": np.zeros(256, np.float32)},
    )
    expected = codes.view(FORMATS[name]).astype(np.float32)
    assert np.array_equal(execution.outputs["y"], expected, equal_nan=True)
    assert np.array_equal(execution.outputs["z"], expected, equal_nan=True)


@pytest.mark.parametrize("name", FORMATS)
def test_rounding_to_nearest_even_and_nan_above_the_maximum(name: str) -> None:
    dtype = FORMATS[name]
    x = candidates(dtype)
    x = np.concatenate([x, np.array([np.nan, np.inf, -np.inf], np.float32)])
    x = np.resize(x, -(-x.size // 64) * 64)
    execution = execute(
        f"""
__global__ void k(const float* x, int* y, int n) {{
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = __builtin_amdgcn_cvt_pk_{name}_f32(x[i], -x[i], 0x5A5A5A5A, true);
}}""",
        [launch("k", ["x", "y", int(x.size)], [x.size // 64])],
        {"x": x},
        {"y": np.zeros(x.size, np.int32)},
    )
    words = execution.outputs["y"].view(np.uint32)
    assert (words & 0xFFFF == 0x5A5A).all()
    for shift, values in ((16, x), (24, -x)):
        actual = (words >> shift & 0xFF).astype(np.uint8)
        expected = values.astype(dtype).view(np.uint8)
        wrong = np.flatnonzero(actual != expected)
        assert wrong.size == 0, [(values[i], actual[i], expected[i]) for i in wrong[:5]]


@pytest.mark.parametrize("name", FORMATS)
def test_stochastic_rounding_takes_the_neighbours_in_proportion(name: str) -> None:
    execution = execute(
        f"""
__global__ void k(int* y) {{
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    y[i] = __builtin_amdgcn_cvt_sr_{name}_f32(1.03125f, i << 20, 0, 2) >> 16 & 0xFF;
}}""",
        [launch("k", ["y"], [64])],
        {},
        {"y": np.zeros(4096, np.int32)},
    )
    values = execution.outputs["y"].astype(np.uint8).view(FORMATS[name]).astype(np.float32)
    step = 0.125 if name == "fp8" else 0.25
    assert set(values.tolist()) == {1.0, 1.0 + step}
    assert abs(values.mean() - 1.03125) < step / 1000


HIP_TYPES = {"fp8": ("__hip_fp8_e4m3_fnuz", "__HIP_E4M3_FNUZ"), "bf8": ("__hip_fp8_e5m2_fnuz", "__HIP_E5M2_FNUZ")}


@pytest.mark.parametrize("name", FORMATS)
def test_hips_types_saturate_and_keep_nan(name: str) -> None:
    """Finite values beyond the largest become it; infinities and NaN become NaN; without saturation all become NaN."""
    dtype, (kind, tag) = FORMATS[name], HIP_TYPES[name]
    top = {"fp8": 240.0, "bf8": 57344.0}[name]
    x = np.concatenate([candidates(dtype), np.array([top, -top, 3e38, -3e38, np.inf, -np.inf, np.nan], np.float32)])
    x = np.resize(x, -(-x.size // 64) * 64).astype(np.float32)
    execution = execute(
        f"""#include <hip/hip_fp8.h>
__global__ void k(const float* x, unsigned char* y, unsigned char* z) {{
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = {kind}(x[i]).__x;
    z[i] = __hip_cvt_float_to_fp8(x[i], __HIP_NOSAT, {tag});
}}""",
        [launch("k", ["x", "y", "z"], [x.size // 64])],
        {"x": x},
        {"y": np.zeros(x.size, np.uint8), "z": np.zeros(x.size, np.uint8)},
    )
    with np.errstate(over="ignore", invalid="ignore"):
        wrapped = x.astype(dtype).view(np.uint8)
        clamped = np.where(np.isfinite(x), np.clip(x, -top, top), np.nan).astype(np.float32).astype(dtype)
    assert np.array_equal(execution.outputs["y"], clamped.view(np.uint8))
    assert np.array_equal(execution.outputs["z"], wrapped)


@pytest.mark.parametrize("name", FORMATS)
def test_all_codes_go_through_hips_types_and_back(name: str) -> None:
    codes, (kind, _) = np.arange(256, dtype=np.uint8), HIP_TYPES[name]
    execution = execute(
        f"""#include <hip/hip_fp8.h>
__global__ void k(const {kind}* x, float* y, {kind}* z) {{
    for (int i = threadIdx.x; i < 256; i += 64) {{ y[i] = float(x[i]); z[i] = {kind}(y[i]); }}
}}""",
        [launch("k", ["x", "y", "z"])],
        {"x": codes},
        {"y": np.zeros(256, np.float32), "z": np.zeros(256, np.uint8)},
    )
    assert np.array_equal(execution.outputs["y"], codes.view(FORMATS[name]).astype(np.float32), equal_nan=True)
    assert np.array_equal(execution.outputs["z"], codes)


def stochastic(x: npt.NDArray[np.float32], random: npt.NDArray[np.uint32], name: str) -> npt.NDArray[np.uint8]:
    """The rule in numpy: shift the significand to a normal or the smallest exponent, add, cut."""
    mantissa, bias = (3, 8) if name == "fp8" else (2, 16)
    drop = 23 - mantissa
    field, fraction = x.view(np.uint32) >> 23 & 0xFF, x.view(np.uint32) & 0x7FFFFF
    significand = np.where(field > 0, fraction | 0x800000, fraction).astype(np.int64)
    below = np.clip(128 - bias - np.maximum(field, 1).astype(np.int64), 0, 31)
    units = (significand >> below) + (random.astype(np.int64) >> (32 - drop)) >> drop
    power = np.maximum(np.maximum(field, 1).astype(np.int64) - 127, 1 - bias) - mantissa
    with np.errstate(over="ignore", invalid="ignore"):
        value = np.copysign(np.ldexp(units.astype(np.float64), power), x).astype(np.float32)
        return value.astype(FORMATS[name]).view(np.uint8)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("lowest", [-5, -20], ids=["normal", "subnormal"])
def test_stochastic_rounding_adds_the_upper_random_bits_below_the_kept_ones(name: str, lowest: int) -> None:
    """As many upper bits of the random word as a normal significand loses are added before the cut."""
    rng = np.random.default_rng(8)
    x = rng.uniform(1, 2, 4096) * np.exp2(rng.integers(lowest, 7, 4096)) * rng.choice([-1, 1], 4096)
    x = x.astype(np.float32)
    random = rng.integers(0, 1 << 32, 4096, np.uint32)
    x[:3], random[:3] = 0, 0xFFFFFFFF
    execution = execute(
        f"""
__global__ void k(const float* x, const unsigned* r, int* y) {{
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = __builtin_amdgcn_cvt_sr_{name}_f32(x[i], r[i], 0x11223344, 1);
}}""",
        [launch("k", ["x", "r", "y"], [64])],
        {"x": x, "r": random},
        {"y": np.zeros(4096, np.int32)},
    )
    words = execution.outputs["y"].view(np.uint32)
    assert (words & 0xFFFF00FF == 0x11220044).all()
    actual, expected = (words >> 8 & 0xFF).astype(np.uint8), stochastic(x, random, name)
    wrong = np.flatnonzero(actual != expected)
    assert wrong.size == 0, [(x[i], hex(random[i]), actual[i], expected[i]) for i in wrong[:4]]
