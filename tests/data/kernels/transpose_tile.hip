/*+++
[[launch]]
kernel = "transpose_tile"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 32)"]
block = [32, "DOWN"]
args = ["x", "y", "rows", "cols"]

[tunables]
DOWN = [8, 4, 16, 32]   # rows of the block
PAD = [0, 1, 2]         # words behind each row of the tile
SWIZZLE = [0, 1]        # exclusive-or of row and column instead of padding

[constraints]
one = "PAD * SWIZZLE == 0"
+++*/
#include <hip/hip_runtime.h>

// A 32 x 32 tile through LDS, DOWN rows at a time.
extern "C" __global__ __launch_bounds__(32 * DOWN) void transpose_tile(const float* __restrict__ x, float* __restrict__ y,
                                                                      int rows, int cols) {
    __shared__ float tile[32 * (32 + PAD)];
    const int a = threadIdx.x;
    const int left = blockIdx.x * 32, top = blockIdx.y * 32;
#pragma unroll
    for (int b = threadIdx.y; b < 32; b += DOWN)
        if (top + b < rows && left + a < cols)
            tile[b * (32 + PAD) + (SWIZZLE ? a ^ b : a)] = x[(long)(top + b) * cols + left + a];
    __syncthreads();
#pragma unroll
    for (int b = threadIdx.y; b < 32; b += DOWN)
        if (left + b < cols && top + a < rows)
            y[(long)(left + b) * rows + top + a] = tile[a * (32 + PAD) + (SWIZZLE ? a ^ b : b)];
}
