/*+++
[[launch]]
kernel = "row_softmax"
grid = ["ceil_div(rows, 4)"]
block = [256]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
// Flash attention's exponentials: exp2(x log2(e) - max log2(e)), one fused multiply-add and one exp2. A wave a row.
extern "C" __global__ __launch_bounds__(256) void row_softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    const int lane = threadIdx.x & 63, row = blockIdx.x * 4 + (threadIdx.x >> 6);
    if (row >= rows) return;
    const float* xr = x + (long)row * cols;
    const float LOG2E = 1.4426950408889634f;
    float m = -INFINITY;
    for (int j = lane; j < cols; j += 64) m = fmaxf(m, xr[j]);
    for (int o = 32; o; o >>= 1) m = fmaxf(m, __shfl_xor(m, o));
    const float ms = m * LOG2E;
    float s = 0.0f;
    for (int j = lane; j < cols; j += 64) s += exp2f(fmaf(xr[j], LOG2E, -ms));
    for (int o = 32; o; o >>= 1) s += __shfl_xor(s, o);
    const float inv = 1.0f / s;
    for (int j = lane; j < cols; j += 64) y[(long)row * cols + j] = exp2f(fmaf(xr[j], LOG2E, -ms)) * inv;
}
