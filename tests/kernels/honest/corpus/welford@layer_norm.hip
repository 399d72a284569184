/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [64]
lds = "0"
args = ["x", "w", "b", "y", "rows", "cols", "eps"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void k(const float* x, const float* w, const float* b, float* y, int rows,
                                                   int cols, float eps) {
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float n = 0, mean = 0, m2 = 0;
    for (int j = threadIdx.x; j < cols; j += 64) {
        n += 1;
        const float d = x[j] - mean;
        mean += d / n;
        m2 += d * (x[j] - mean);
    }
    for (int s = 32; s; s >>= 1) {
        const float on = __shfl_xor(n, s), om = __shfl_xor(mean, s), o2 = __shfl_xor(m2, s), t = n + on;
        if (t > 0) {
            const float d = om - mean;
            mean = (n * mean + on * om) / t;
            m2 += o2 + d * d * n * on / t;
        }
        n = t;
    }
    const float r = rsqrtf(m2 / cols + eps);
    for (int j = threadIdx.x; j < cols; j += 64) y[j] = (x[j] - mean) * r * w[j] + b[j];
}
