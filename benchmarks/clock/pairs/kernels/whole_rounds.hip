/*+++
[[launch]]
kernel = "whole_rounds"
grid = ["304 if FAST else 456"]
block = [1024]
args = ["x", "y", "n", "turns"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// A workgroup fills a unit's LDS. Fast: 304 workgroups share the work, one a unit. Slow: 456, so that 152 units stand
// idle in the second round.
#define STEP (FAST ? 304 : 456)
extern "C" __global__ __launch_bounds__(1024) void whole_rounds(const float* __restrict__ x, float* __restrict__ y,
                                                                int n, int turns) {
    __shared__ float kept[15 * 1024];
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += STEP * 1024) {
        kept[threadIdx.x] = x[i];
        const float by = kept[threadIdx.x];
        float v = by;
#pragma unroll 16
        for (int t = 0; t < turns; ++t) v = fmaf(v, by, 0.5f);
        kept[threadIdx.x + 14 * 1024] = v;
        y[i] = kept[threadIdx.x + 14 * 1024];
    }
}
