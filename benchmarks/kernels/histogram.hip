/*+++
[[launch]]
kernel = "histogram"
grid = ["ceil_div(n, 64 * 64)"]
block = [64]
args = ["x", "y", "n"]

[tunables]
WAY = [0, 1]   # 0: a row of bins for each work-item, 1: a column
+++*/
#include <hip/hip_runtime.h>

// 16 bins of 64 private counters, no atomics; then each bin is summed.
extern "C" __global__ __launch_bounds__(64) void histogram(const int* __restrict__ x, int* __restrict__ y, int n) {
    __shared__ int bins[16 * 64];
    const int t = threadIdx.x;
    for (int b = 0; b < 16; ++b) bins[b * 64 + t] = 0;
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
        const int bin = x[(blockIdx.x * 64 + k) * 64 + t] & 15;
        bins[WAY ? bin * 64 + t : t * 16 + bin] += 1;
    }
    __syncthreads();
    if (t < 16) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += bins[WAY ? t * 64 + k : k * 16 + t];
        y[blockIdx.x * 16 + t] = sum;
    }
}
