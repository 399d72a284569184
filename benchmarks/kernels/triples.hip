/*+++
[[launch]]
kernel = "triples"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n"]
+++*/
#include <hip/hip_runtime.h>

// An array of three-element records: each load takes every third element.
extern "C" __global__ __launch_bounds__(256) void triples(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[3 * i] * x[3 * i + 1] + x[3 * i + 2];
}
