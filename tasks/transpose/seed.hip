/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(cols, 16)", "ceil_div(rows, 16)"]
block = ["16", "16"]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One work-item an element: the reads of neighbouring lanes are neighbours, their writes are a column apart.
extern "C" __global__ __launch_bounds__(256) void transpose(const float* __restrict__ x, float* __restrict__ y,
                                                            int rows, int cols) {
    const int j = blockIdx.x * 16 + threadIdx.x;
    const int i = blockIdx.y * 16 + threadIdx.y;
    if (i < rows && j < cols) y[(long)j * rows + i] = x[(long)i * cols + j];
}
