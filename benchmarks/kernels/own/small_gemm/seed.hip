/*+++
[[launch]]
kernel = "gemm"
grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
block = [16, 16]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + col];
        }
        c[row * n + col] = sum;
    }
}
