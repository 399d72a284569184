/*+++
[[launch]]
kernel = "half_waves"
grid = ["ceil_div(n, 96)"]
block = [96]
args = ["x", "y", "n"]

[tunables]
KEEP = [1, 3]   # bits of the lane number that must be clear
+++*/
#include <hip/hip_runtime.h>

// Only some lanes of each wave take part, and the last block is cut off.
extern "C" __global__ __launch_bounds__(96) void half_waves(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 96 + threadIdx.x;
    if (i < n) {
        if ((threadIdx.x & KEEP) == 0) y[i] = 2.0f * x[i];
        else y[i] = 0.0f;
    }
}
