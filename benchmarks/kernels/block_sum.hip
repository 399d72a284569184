/*+++
[[launch]]
kernel = "block_sum"
grid = ["ceil_div(n, 512)"]
block = [256]
args = ["x", "y", "n"]

[tunables]
WAY = [0, 1, 2]   # 0: doubling strides, 1: halving strides, 2: in the wave
+++*/
#include <hip/hip_runtime.h>

// Sums of 512 elements through LDS.
extern "C" __global__ __launch_bounds__(256) void block_sum(const float* __restrict__ x, float* __restrict__ y, int n) {
    __shared__ float part[256];
    const int t = threadIdx.x, i = blockIdx.x * 512 + t;
    float value = x[i] + x[i + 256];
#if WAY == 2
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor(value, step);
    if (t % 32 == 0) part[t / 32] = value;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 8; ++w) value += part[w];
        y[blockIdx.x] = value;
    }
#else
    part[t] = value;
    __syncthreads();
#if WAY == 0
    for (int step = 1; step < 256; step *= 2) {
        const int at = 2 * step * t;
        if (at < 256) part[at] += part[at + step];
        __syncthreads();
    }
#else
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
#endif
    if (t == 0) y[blockIdx.x] = part[0];
#endif
}
