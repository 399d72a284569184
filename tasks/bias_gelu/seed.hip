/*+++
[[launch]]
kernel = "bias_gelu"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "bias", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a row.
extern "C" __global__ __launch_bounds__(64) void bias_gelu(const float* __restrict__ x, const float* __restrict__ bias,
                                                           float* __restrict__ y, int rows, int cols) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    for (int j = 0; j < cols; ++j) {
        const float v = x[(long)row * cols + j] + bias[j];
        y[(long)row * cols + j] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}
