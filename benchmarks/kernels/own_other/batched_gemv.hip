/*+++
[[launch]]
kernel = "bgemv"
grid = ["ceil_div(batch * m, 256)"]
block = [256]
args = ["a", "x", "y", "batch", "m", "k"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void bgemv(const float* A, const float* x, float* y, int B, int M, int K) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = t / M;
    if (t >= B * M) return;
    const float* row = A + (size_t)t * K;
    const float* vec = x + (size_t)b * K;
    float dot = 0.0f;
    for (int k = 0; k < K; ++k) dot = fmaf(row[k], vec[k], dot);
    y[t] = dot;
}
