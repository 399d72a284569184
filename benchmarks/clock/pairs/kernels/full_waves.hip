/*+++
[[launch]]
kernel = "full_waves"
grid = ["n // 64 if FAST else n // 32"]
block = ["64 if FAST else 32"]
args = ["x", "y", "turns"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: workgroups of 64. Slow: of 32, so that half of each wave's lanes do nothing.
extern "C" __global__ __launch_bounds__(64) void full_waves(const float* __restrict__ x, float* __restrict__ y,
                                                            int turns) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float by = x[i];
    float v = by;
#pragma unroll 16
    for (int t = 0; t < turns; ++t) v = fmaf(v, by, 0.5f);
    y[i] = v;
}
