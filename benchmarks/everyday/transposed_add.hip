/*+++
[[launch]]
kernel = "transposed_add"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 32)"]
block = [32, 8]
args = ["a", "b", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// The tutorial's tile of 32 by 32 with a column to spare, so that both matrices are read along their rows.
extern "C" __global__ void transposed_add(const float* __restrict__ a, const float* __restrict__ b,
                                          float* __restrict__ y, int rows, int cols) {
    __shared__ float tile[32][33];
    const int left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (left + k < cols && top + threadIdx.x < rows)
            tile[k][threadIdx.x] = b[(long)(left + k) * rows + top + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (top + k < rows && left + threadIdx.x < cols) {
            const long at = (long)(top + k) * cols + left + threadIdx.x;
            y[at] = a[at] + tile[threadIdx.x][k];
        }
}
