/*+++
[[launch]]
kernel = "convolution"
grid = ["ceil_div(n, BLOCK * EACH)"]
block = ["BLOCK"]
lds = "0"
args = ["x", "w", "y", "n"]

[tunables]
BLOCK = [256, 64, 128, 512, 1024]
EACH = [1, 2, 4, 8]    # results a work-item
NEAR = [0, 1]          # 1: they are neighbours, else BLOCK apart
LDS = [0, 1]           # 1: the inputs go through LDS
+++*/
#include <hip/hip_runtime.h>

constexpr int TAPS = 25;
constexpr int TILE = BLOCK * EACH;

// Weighted sums of 25 neighbours; n is a multiple of TILE, and x has TAPS - 1 elements more.
extern "C" __global__ __launch_bounds__(BLOCK) void convolution(const float* __restrict__ x, const float* __restrict__ w,
                                                               float* __restrict__ y, int n) {
    const int first = blockIdx.x * TILE, lane = threadIdx.x;
    const int step = NEAR ? 1 : BLOCK, from = NEAR ? lane * EACH : lane;
#if LDS
    __shared__ float part[TILE + TAPS - 1];
    for (int i = lane; i < TILE + TAPS - 1; i += BLOCK) part[i] = x[first + i];
    __syncthreads();
#else
    const float* part = x + first;
#endif
    float sum[EACH];
#pragma unroll
    for (int e = 0; e < EACH; ++e) sum[e] = 0.0f;
#pragma unroll
    for (int t = 0; t < TAPS; ++t) {
        const float weight = w[t];
#pragma unroll
        for (int e = 0; e < EACH; ++e) sum[e] += weight * part[from + e * step + t];
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e) y[first + from + e * step] = sum[e];
}
