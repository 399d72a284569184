/*+++
[[launch]]
kernel = "scatter_strided"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n"]

[tunables]
STRIDE = [1, 2, 3, 5, 8, 32]
SHIFT = [0, 1, 4, 7]
+++*/
#include <hip/hip_runtime.h>

// Reads without gaps, writes every STRIDE-th element from the SHIFT-th on.
extern "C" __global__ __launch_bounds__(256) void scatter_strided(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[(long)i * STRIDE + SHIFT] = x[i];
}
