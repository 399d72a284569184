/*+++
[[launch]]
kernel = "scan"
grid = ["rows"]
block = ["BLOCK"]
args = ["x", "y", "rows", "cols"]

[tunables]
BLOCK = [256, 64, 128, 512, 1024]  # work-items a row
EACH = [4, 1, 2, 8]                # neighbouring elements a work-item adds at once
+++*/
#include <hip/hip_runtime.h>

constexpr int MOST_WAVES = BLOCK / 32;  // waves have 32 lanes or 64

// One block a row: sums within a work-item, across the lanes of a wave, across the waves, then the next part of the row.
extern "C" __global__ __launch_bounds__(BLOCK) void scan(const float* __restrict__ x, float* __restrict__ y, int rows,
                                                         int cols) {
    __shared__ float ends[MOST_WAVES];
    const int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, waves = BLOCK / warpSize;
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float before = 0.0f;
    for (int start = 0; start < cols; start += BLOCK * EACH) {
        const int first = start + threadIdx.x * EACH;
        float sums[EACH];
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            sums[e] = first + e < cols ? x[first + e] : 0.0f;
            if (e > 0) sums[e] += sums[e - 1];
        }
        float upto = sums[EACH - 1];
        for (int step = 1; step < warpSize; step *= 2) {
            const float other = __shfl_up(upto, step);
            if (lane >= step) upto += other;
        }
        if (lane == warpSize - 1) ends[wave] = upto;
        __syncthreads();
        float offset = before, all = before;
        for (int w = 0; w < waves; ++w) {
            if (w < wave) offset += ends[w];
            all += ends[w];
        }
        __syncthreads();
        offset += upto - sums[EACH - 1];
#pragma unroll
        for (int e = 0; e < EACH; ++e)
            if (first + e < cols) y[first + e] = offset + sums[e];
        before = all;
    }
}
