/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(cols, TILE)", "ceil_div(rows, TILE)"]
block = ["TILE", "DOWN"]
lds = "0"
args = ["x", "y", "rows", "cols"]

[tunables]
TILE = [32, 64]      # rows and columns of a tile
DOWN = [8, 4, 16]    # rows of it at a time
PAD = [0, 1, 2]      # words behind each of its rows
+++*/
#include <hip/hip_runtime.h>

constexpr int EACH = TILE / DOWN;

// A tile through LDS, so that reads and writes both run along the lanes. All loads are on their way before the first
// store.
extern "C" __global__ __launch_bounds__(TILE * DOWN) void transpose(const float* __restrict__ x, float* __restrict__ y,
                                                                    int rows, int cols) {
    __shared__ float tile[TILE * (TILE + PAD)];
    const int lane = threadIdx.x, left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    float kept[EACH];
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const int i = threadIdx.y + e * DOWN;
        kept[e] = top + i < rows && left + lane < cols ? x[(long)(top + i) * cols + left + lane] : 0.0f;
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e) tile[(threadIdx.y + e * DOWN) * (TILE + PAD) + lane] = kept[e];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const int j = threadIdx.y + e * DOWN;
        if (left + j < cols && top + lane < rows)
            y[(long)(left + j) * rows + top + lane] = tile[lane * (TILE + PAD) + j];
    }
}
