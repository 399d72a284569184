"""The device's expf and exp2f, made of the hardware's exponential, against numpy's in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.lab_bench import execute, launch


@pytest.mark.parametrize("name,reference", [("expf", np.exp), ("exp2f", np.exp2)])
def test_an_exponential_is_within_one_unit_of_the_last_place(name: str, reference: np.ufunc) -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << 32, 8192, np.uint32).view(np.float32)
    near = rng.uniform(-160.0, 140.0, 8192).astype(np.float32)
    ends = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 88.72, 88.73, 127.99, 128.0, -87.4, -103.9, -104.1], np.float32
    )
    x = np.concatenate([bits, near, np.resize(ends, 256)])
    execution = execute(
        f"""
__global__ void k(const float* x, float* y) {{
    const int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = {name}(x[i]);
}}""",
        [launch("k", ["x", "y"], grid=(x.size // 64,))],
        {"x": x},
        {"y": np.zeros(x.size, np.float32)},
    )
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64)).astype(np.float32)
    actual = execution.outputs["y"]
    assert np.array_equal(np.isnan(actual), np.isnan(want))
    finite = ~np.isnan(want)
    apart = np.abs(actual[finite].view(np.int32).astype(np.int64) - want[finite].view(np.int32))
    assert apart.max() <= 1  # as HIP promises of both
