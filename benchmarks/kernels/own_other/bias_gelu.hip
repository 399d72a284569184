/*+++
[[launch]]
kernel = "gelu_kernel"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 8)"]
block = [32, 8]
args = ["x", "bias", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

#define SQRT_2_OVER_PI 0.7978845608028654f

extern "C" __global__ void gelu_kernel(const float* in, const float* b, float* out, int M, int N) {
    int m = blockIdx.y * 8 + threadIdx.y;
    int n = blockIdx.x * 32 + threadIdx.x;
    if (m >= M || n >= N) return;

    float v = in[m * N + n] + b[n];
    float u = SQRT_2_OVER_PI * (v + 0.044715f * v * v * v);
    out[m * N + n] = 0.5f * v * (1.0f + tanhf(u));
}
