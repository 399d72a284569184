/*+++
[[launch]]
kernel = "scatter"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "at", "y", "n"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void scatter(const float* __restrict__ x, const int* __restrict__ at,
                                                          float* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[at[i]] = x[i];
}
