/*+++
[[launch]]
kernel = "bias_gelu"
grid = ["ceil_div(rows * cols, 256)"]
block = ["256"]
lds = "0"
args = ["x", "bias", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// y = gelu(x + bias), by the approximation with tanh.
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= rows * cols) return;
    float v = x[i] + bias[i % cols];
    float inner = 0.79788456f * (v + 0.044715f * v * v * v);
    float e = expf(2.0f * inner);
    y[i] = 0.5f * v * (1.0f + (1.0f - 2.0f / (e + 1.0f)));
}
