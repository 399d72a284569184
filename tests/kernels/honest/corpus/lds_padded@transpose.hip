/*+++
[[launch]]
kernel = "t"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 32)"]
block = [32, 8]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void t(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][33];
    for (int d = threadIdx.y; d < 32; d += 8) {
        const int i = blockIdx.y * 32 + d, j = blockIdx.x * 32 + threadIdx.x;
        if (i < rows && j < cols) tile[d][threadIdx.x] = x[(long)i * cols + j];
    }
    __syncthreads();
    for (int d = threadIdx.y; d < 32; d += 8) {
        const int j = blockIdx.x * 32 + d, i = blockIdx.y * 32 + threadIdx.x;
        if (i < rows && j < cols) y[(long)j * rows + i] = tile[threadIdx.x][d];
    }
}
