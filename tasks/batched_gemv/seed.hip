/*+++
[[launch]]
kernel = "gemv"
grid = ["ceil_div(m, 64)", "batch"]
block = [64]
args = ["a", "x", "y", "m", "k"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a row of a matrix.
extern "C" __global__ __launch_bounds__(64) void gemv(const float* __restrict__ a, const float* __restrict__ x,
                                                      float* __restrict__ y, int m, int k) {
    const int i = blockIdx.x * 64 + threadIdx.x, b = blockIdx.y;
    if (i >= m) return;
    float sum = 0.0f;
    for (int j = 0; j < k; ++j) sum += a[((long)b * m + i) * k + j] * x[(long)b * k + j];
    y[(long)b * m + i] = sum;
}
