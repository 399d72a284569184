/*+++
[[launch]]
kernel = "row_softmax"
grid = ["ceil_div(rows, 64)"]
block = ["64"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a row, from the last column to the first.
extern "C" __global__ __launch_bounds__(64) void row_softmax(const float* x, float* y, int rows, int cols) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    float top = x[cols - 1];
    for (int j = cols - 2; j >= 0; --j) top = fmaxf(top, x[j]);
    float sum = 0.0f;
    for (int j = cols - 1; j >= 0; --j) sum += expf(x[j] - top);
    for (int j = 0; j < cols; ++j) y[j] = expf(x[j] - top) / sum;
}
