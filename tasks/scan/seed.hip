/*+++
[[launch]]
kernel = "scan"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a row.
extern "C" __global__ __launch_bounds__(64) void scan(const float* __restrict__ x, float* __restrict__ y, int rows,
                                                      int cols) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    float sum = 0.0f;
    for (int j = 0; j < cols; ++j) {
        sum += x[j];
        y[j] = sum;
    }
}
