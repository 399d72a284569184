/*+++
[[launch]]
kernel = "gemv"
grid = ["ceil_div(m, WAVES * ROWS)", "batch"]
block = ["64", "WAVES"]
args = ["a", "x", "y", "m", "k"]

[tunables]
WAVES = [4, 1, 2, 8]  # groups of 64 lanes a block
ROWS = [1, 2, 4]      # rows of a group
+++*/
#include <hip/hip_runtime.h>

// 64 lanes take neighbouring elements of a row; on waves of 32 lanes two waves meet in LDS.
extern "C" __global__ __launch_bounds__(64 * WAVES) void gemv(const float* __restrict__ a, const float* __restrict__ x,
                                                              float* __restrict__ y, int m, int k) {
    __shared__ float halves[WAVES][ROWS][2];
    const int lane = threadIdx.x, b = blockIdx.y, first = (blockIdx.x * WAVES + threadIdx.y) * ROWS;
    float sums[ROWS] = {};
    for (int j = lane; j < k; j += 64) {
        const float of_x = x[(long)b * k + j];
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (first + r < m) sums[r] += a[((long)b * m + first + r) * k + j] * of_x;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        for (int step = warpSize / 2; step > 0; step /= 2) sums[r] += __shfl_xor(sums[r], step);
        if (lane % warpSize == 0) halves[threadIdx.y][r][lane / warpSize] = sums[r];
    }
    __syncthreads();
    if (lane < ROWS && first + lane < m) {
        float sum = halves[threadIdx.y][lane][0];
        if (warpSize < 64) sum += halves[threadIdx.y][lane][1];
        y[(long)b * m + first + lane] = sum;
    }
}
