/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(cols, 4)", "ceil_div(rows, 256)"]
block = ["64"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// Squares of 4 x 4 in registers, one a work-item.
extern "C" __global__ __launch_bounds__(64) void transpose(const float* x, float* y, int rows, int cols) {
    const int row = (blockIdx.y * 64 + threadIdx.x) * 4, column = blockIdx.x * 4;
    float square[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            square[j][i] = row + i < rows && column + j < cols ? x[(long)(row + i) * cols + column + j] : 0.0f;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (row + i < rows && column + j < cols) y[(long)(column + j) * rows + row + i] = square[j][i];
}
