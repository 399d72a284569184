/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, 64)"]
block = [64]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void k(const float* __restrict__ x, float* __restrict__ y, int rows,
                                                   int cols) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    float m = x[0];
    for (int j = 1; j < cols; ++j) m = fmaxf(m, x[j]);
    float s = 0, c = 0;
    for (int j = 0; j < cols; ++j) {
        const float v = expf(x[j] - m) - c, t = s + v;
        c = (t - s) - v;
        s = t;
    }
    const float l = logf(s);
    for (int j = 0; j < cols; ++j) y[j] = expf(x[j] - m - l);
}
