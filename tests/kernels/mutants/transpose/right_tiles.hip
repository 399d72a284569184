/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 32)"]
block = ["32", "8"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// Tiles of 32 x 32 through LDS, so that reads and writes both go along lines.
extern "C" __global__ __launch_bounds__(256) void transpose(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][33];
    const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.x;
    for (int t = threadIdx.y; t < 32; t += 8) {
        const int row = blockIdx.y * 32 + t;
        if (row < rows && j < cols) tile[t][threadIdx.x] = x[(long)row * cols + j];
    }
    __syncthreads();
    for (int t = threadIdx.y; t < 32; t += 8) {
        const int out = blockIdx.x * 32 + t;
        if (out < cols && i < rows) y[(long)out * rows + i] = tile[threadIdx.x][t];
    }
}
