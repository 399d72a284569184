/*+++
[[launch]]
kernel = "matmul"
grid = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block = [32, 8]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= N || y >= M) return;
    const float* a = A + (size_t)y * K;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc = fmaf(a[k], B[(size_t)k * N + x], acc);
    C[(size_t)y * N + x] = acc;
}
