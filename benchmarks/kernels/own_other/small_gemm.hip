/*+++
[[launch]]
kernel = "mm"
grid = ["ceil_div(m, 16)", "ceil_div(n, 16)"]
block = [16, 16]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void mm(const float* A, const float* B, float* C, int M, int N, int K) {
    int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    if (i >= M || j >= N) return;
    const float *a = A + (size_t)i * K, *b = B + j;
    float s = 0;
    for (int k = 0; k < K; k++, a++, b += N) s += a[0] * b[0];
    C[(size_t)i * N + j] = s;
}
