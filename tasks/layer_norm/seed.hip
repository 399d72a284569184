/*+++
[[launch]]
kernel = "layer_norm"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "w", "b", "y", "rows", "cols", "eps"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a row, three passes.
extern "C" __global__ __launch_bounds__(64) void layer_norm(const float* __restrict__ x, const float* __restrict__ w,
                                                            const float* __restrict__ b, float* __restrict__ y,
                                                            int rows, int cols, float eps) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    float mean = 0.0f;
    for (int j = 0; j < cols; ++j) mean += x[j];
    mean /= cols;
    float squares = 0.0f;
    for (int j = 0; j < cols; ++j) squares += (x[j] - mean) * (x[j] - mean);
    const float scale = 1.0f / sqrtf(squares / cols + eps);
    for (int j = 0; j < cols; ++j) y[j] = (x[j] - mean) * scale * w[j] + b[j];
}
