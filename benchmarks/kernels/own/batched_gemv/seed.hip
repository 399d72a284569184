/*+++
[[launch]]
kernel = "gemv"
grid = ["ceil_div(m, 64)", "batch"]
block = [64]
args = ["a", "x", "y", "m", "k"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void gemv(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int m,
                                int k) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int batch = blockIdx.y;
    if (i >= m) return;
    float acc = 0.f;
    for (int j = 0; j < k; ++j)
        acc += a[((size_t)batch * m + i) * k + j] * x[batch * k + j];
    y[batch * m + i] = acc;
}
