"""FNUZ conversions against ml_dtypes: all codes, all rounding boundaries."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from tests.lab_bench import execute, launch

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
    done = execute(f"""
__global__ void k(const int* x, float* y, float* z) {{
    int word = x[threadIdx.x];
    y[4 * threadIdx.x + 0] = __builtin_amdgcn_cvt_f32_{name}(word, 0);
    y[4 * threadIdx.x + 1] = __builtin_amdgcn_cvt_f32_{name}(word, 1);
    y[4 * threadIdx.x + 2] = __builtin_amdgcn_cvt_f32_{name}(word, 2);
    y[4 * threadIdx.x + 3] = __builtin_amdgcn_cvt_f32_{name}(word, 3);
    auto low = __builtin_amdgcn_cvt_pk_f32_{name}(word, false), high = __builtin_amdgcn_cvt_pk_f32_{name}(word, true);
    z[4 * threadIdx.x + 0] = low[0]; z[4 * threadIdx.x + 1] = low[1];
    z[4 * threadIdx.x + 2] = high[0]; z[4 * threadIdx.x + 3] = high[1];
}}""", [launch("k", ["x", "y", "z"])], {"x": codes.view(np.int32)},
        {"y": np.zeros(256, np.float32), "z": np.zeros(256, np.float32)})
    expected = codes.view(FORMATS[name]).astype(np.float32)
    assert np.array_equal(done.outputs["y"], expected, equal_nan=True)
    assert np.array_equal(done.outputs["z"], expected, equal_nan=True)


@pytest.mark.parametrize("name", FORMATS)
def test_rounding_to_nearest_even_and_nan_above_the_maximum(name: str) -> None:
    dtype = FORMATS[name]
    x = candidates(dtype)
    x = np.concatenate([x, np.array([np.nan, np.inf, -np.inf], np.float32)])
    x = np.resize(x, -(-x.size // 64) * 64)
    done = execute(f"""
__global__ void k(const float* x, int* y, int n) {{
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = __builtin_amdgcn_cvt_pk_{name}_f32(x[i], -x[i], 0x5A5A5A5A, true);
}}""", [launch("k", ["x", "y", int(x.size)], [x.size // 64])], {"x": x}, {"y": np.zeros(x.size, np.int32)})
    words = done.outputs["y"].view(np.uint32)
    assert (words & 0xFFFF == 0x5A5A).all()
    for shift, values in ((16, x), (24, -x)):
        got = (words >> shift & 0xFF).astype(np.uint8)
        expected = values.astype(dtype).view(np.uint8)
        wrong = np.flatnonzero(got != expected)
        assert wrong.size == 0, [(values[i], got[i], expected[i]) for i in wrong[:5]]


@pytest.mark.parametrize("name", FORMATS)
def test_stochastic_rounding_takes_the_neighbours_in_proportion(name: str) -> None:
    done = execute(f"""
__global__ void k(int* y) {{
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    y[i] = __builtin_amdgcn_cvt_sr_{name}_f32(1.03125f, i << 20, 0, 2) >> 16 & 0xFF;
}}""", [launch("k", ["y"], [64])], {}, {"y": np.zeros(4096, np.int32)})
    values = done.outputs["y"].astype(np.uint8).view(FORMATS[name]).astype(np.float32)
    step = 0.125 if name == "fp8" else 0.25
    assert set(values.tolist()) == {1.0, 1.0 + step}
    assert abs(values.mean() - 1.03125) < step / 1000
