from __future__ import annotations

import numpy as np

from tests.support.lab_bench import execute, floats, launch


def test_buffers_lie_elsewhere_in_each_execution_and_stay_aligned() -> None:
    source = """
__global__ void where(const float* x, float* y, unsigned* at) {
    const unsigned long p = (unsigned long)x, q = (unsigned long)y;
    if (threadIdx.x == 0) { at[0] = p >> 16; at[1] = p >> 32; at[2] = (q - p) >> 16; at[3] = (p | q) & 255; }
    y[threadIdx.x] = p % 16 == 0 ? ((const float4*)x)[threadIdx.x / 4].x : 0.0f;
}"""
    x, addresses = floats(64), []
    for _ in range(6):
        execution = execute(
            source, [launch("where", ["x", "y", "at"])], {"x": x}, {"y": np.zeros_like(x), "at": np.zeros(4, np.uint32)}
        )
        assert execution.findings == () and np.array_equal(execution.outputs["y"], x[np.arange(64) // 4 * 4])
        addresses.append(execution.outputs["at"])
    bases, highs, distances, odd = np.array(addresses).T
    assert len(set(bases)) > 3 and len(set(highs)) > 3 and len(set(distances)) > 3
    assert not odd.any()
