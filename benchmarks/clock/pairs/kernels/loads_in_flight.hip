/*+++
[[launch]]
kernel = "loads_in_flight"
grid = ["608"]
block = [64]
args = ["x", "y", "n"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Few waves. Fast: sixteen loads are in flight before the first is used. Slow: each is waited for.
extern "C" __global__ __launch_bounds__(64) void loads_in_flight(const float* __restrict__ x, float* __restrict__ y,
                                                                 int n) {
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) {
#if FAST
        float v[16];
#pragma unroll
        for (int j = 0; j < 16; ++j) v[j] = x[i + 64 * j];
#pragma unroll
        for (int j = 0; j < 16; ++j) y[i + 64 * j] = -2.0f * v[j];
#else
#pragma unroll 1
        for (int j = 0; j < 16; ++j) {
            const float v = x[i + 64 * j];
            y[i + 64 * j] = -2.0f * v;
        }
#endif
    }
}
