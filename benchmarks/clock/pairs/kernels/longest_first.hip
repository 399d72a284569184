/*+++
[[launch]]
kernel = "longest_first"
grid = ["n // 64"]
block = [64]
args = ["x", "y", "n"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Work grows with the place. Fast: the longest workgroups start first, and short ones fill what they leave. Slow: last.
extern "C" __global__ __launch_bounds__(64) void longest_first(const float* __restrict__ x, float* __restrict__ y,
                                                               int n) {
    __shared__ float kept[8 * 1024];  // two workgroups a unit
    const int block = FAST ? (int)(gridDim.x - 1 - blockIdx.x) : (int)blockIdx.x, i = block * 64 + threadIdx.x;
    kept[threadIdx.x] = 0;
    float sum = kept[threadIdx.x];
#pragma unroll 8
    for (int j = 0; j <= i; ++j) sum += x[j] * x[i - j];
    y[i] = sum;
}
