/*+++
[[launch]]
kernel = "row_softmax"
grid = ["ceil_div(rows, 64)"]
block = ["64"]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a row, three passes. Neighbouring lanes are a whole row apart, so every access is a line of its own.
extern "C" __global__ __launch_bounds__(64) void row_softmax(const float* __restrict__ x, float* __restrict__ y,
                                                             int rows, int cols) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;

    float top = x[0];
    for (int j = 1; j < cols; ++j) top = fmaxf(top, x[j]);
    float sum = 0.0f;
    for (int j = 0; j < cols; ++j) sum += expf(x[j] - top);
    for (int j = 0; j < cols; ++j) y[j] = expf(x[j] - top) / sum;
}
