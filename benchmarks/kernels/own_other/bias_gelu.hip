/*+++
[[launch]]
kernel = "act"
grid = ["ceil_div(cols, 16)", "ceil_div(rows, 16)"]
block = [16, 16]
args = ["x", "bias", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

__device__ inline float gelu(float v) {
    float cubic = v * v * v; float inner = 0.7978845608f * (v + 0.044715f * cubic);
    return 0.5f * v * (1.f + tanhf(inner));
}
extern "C" __global__ void act(const float* x, const float* bias, float* y, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols) {
        int at = i * cols + j;
        float v = x[at]; v += bias[j];
        y[at] = gelu(v);
    }
}
