/*+++
[[launch]]
kernel = "bias_gelu"
grid = ["ceil_div(rows * cols, 256)"]
block = [256]
args = ["x", "bias", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

__device__ inline float gelu(float v) {
    const float cubic = v + 0.044715f * v * v * v;
    return 0.5f * v * (1.0f + tanhf(0.7978845608f * cubic));
}

extern "C" __global__ void bias_gelu(const float* __restrict__ x, const float* __restrict__ bias,
                                     float* __restrict__ y, int rows, int cols) {
    const int idx = blockIdx.x * 256 + threadIdx.x;
    if (idx >= rows * cols) return;
    const int col = idx % cols;
    y[idx] = gelu(x[idx] + bias[col]);
}
