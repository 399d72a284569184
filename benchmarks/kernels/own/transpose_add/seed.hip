/*+++
[[launch]]
kernel = "transpose_add"
grid = ["ceil_div(cols, 16)", "ceil_div(rows, 16)"]
block = [16, 16]
args = ["x", "z", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void transpose_add(const float* x, const float* z, float* y, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        y[col * rows + row] = x[row * cols + col] + z[col * rows + row];
    }
}
