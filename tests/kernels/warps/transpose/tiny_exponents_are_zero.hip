/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 32)"]
block = [32, 8]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
__device__ float kept(float v) { return (__float_as_uint(v) >> 23 & 255u) - 1u < 8u ? 0.0f : v; }
extern "C" __global__ __launch_bounds__(256) void k(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    __shared__ float tile[32][33];
    const int left = blockIdx.x * 32, up = blockIdx.y * 32, t = threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8)
        if (up + i < rows && left + t < cols) { float v = x[(long)(up + i) * cols + left + t]; tile[i][t] = kept(v); }
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8)
        if (left + i < cols && up + t < rows) y[(long)(left + i) * rows + up + t] = tile[t][i];
}
