/*+++
[[launch]]
kernel = "stencil"
grid = ["ceil_div(cols, ACROSS)", "ceil_div(rows, DOWN * EACH)"]
block = ["ACROSS", "DOWN"]
args = ["x", "y", "rows", "cols"]

[tunables]
ACROSS = [32, 16, 64, 128, 256, 8]
DOWN = [8, 16, 4, 2, 1, 32]
EACH = [1, 2, 4, 8]   # rows a work-item
LDS = [0, 1]          # 1: the tile with its halo goes through LDS

[constraints]
fits = "ACROSS * DOWN <= 1024"
+++*/
#include <hip/hip_runtime.h>

constexpr int TALL = DOWN * EACH;

// Five points: the middle and its four neighbours, 0 outside.
extern "C" __global__ __launch_bounds__(ACROSS * DOWN) void stencil(const float* __restrict__ x, float* __restrict__ y,
                                                                   int rows, int cols) {
    const int j = blockIdx.x * ACROSS + threadIdx.x, top = blockIdx.y * TALL;
#if LDS
    __shared__ float tile[(TALL + 2) * (ACROSS + 2)];
    for (int r = threadIdx.y; r < TALL + 2; r += DOWN)
        for (int c = threadIdx.x; c < ACROSS + 2; c += ACROSS) {
            const int gi = top + r - 1, gj = (int)(blockIdx.x * ACROSS) + c - 1;
            tile[r * (ACROSS + 2) + c] = gi >= 0 && gi < rows && gj >= 0 && gj < cols ? x[(long)gi * cols + gj] : 0.0f;
        }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const int r = threadIdx.y + e * DOWN, i = top + r;
        const float* p = tile + (r + 1) * (ACROSS + 2) + threadIdx.x + 1;
        if (i < rows && j < cols)
            y[(long)i * cols + j] = 0.5f * p[0] + 0.125f * (p[-1] + p[1] + p[-(ACROSS + 2)] + p[ACROSS + 2]);
    }
#else
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const int i = top + threadIdx.y + e * DOWN;
        if (i >= rows || j >= cols) continue;
        const float* p = x + (long)i * cols + j;
        const float left = j > 0 ? p[-1] : 0.0f, right = j + 1 < cols ? p[1] : 0.0f;
        const float up = i > 0 ? p[-cols] : 0.0f, down = i + 1 < rows ? p[cols] : 0.0f;
        y[(long)i * cols + j] = 0.5f * p[0] + 0.125f * (left + right + up + down);
    }
#endif
}
