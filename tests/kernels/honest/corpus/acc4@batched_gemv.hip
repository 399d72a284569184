/*+++
[[launch]]
kernel = "gemv"
grid = ["ceil_div(m, 64)", "batch"]
block = [64]
args = ["a", "x", "y", "m", "k"]
+++*/
#include <hip/hip_runtime.h>
// A work-item a row, unrolled by four with four sums, so that the additions do not wait for each other.
extern "C" __global__ __launch_bounds__(64) void gemv(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int m, int k) {
    const int i = blockIdx.x * 64 + threadIdx.x, b = blockIdx.y;
    if (i >= m) return;
    const float* r = a + ((long)b * m + i) * k;
    const float* v = x + (long)b * k;
    float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
    int j = 0;
    for (; j + 3 < k; j += 4) { s0 += r[j] * v[j]; s1 += r[j + 1] * v[j + 1]; s2 += r[j + 2] * v[j + 2]; s3 += r[j + 3] * v[j + 3]; }
    for (; j < k; ++j) s0 += r[j] * v[j];
    y[(long)b * m + i] = (s0 + s1) + (s2 + s3);
}
