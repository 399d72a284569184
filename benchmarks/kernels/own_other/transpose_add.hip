/*+++
[[launch]]
kernel = "add_t"
grid = ["ceil_div(rows, 32)", "ceil_div(cols, 32)"]
block = [32, 32]
args = ["x", "z", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void add_t(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                 int R, int C) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    const int j = blockIdx.y * 32 + threadIdx.y;
    if (i >= R) return;
    if (j >= C) return;
    const size_t dst = (size_t)j * R + i;
    const size_t src = (size_t)i * C + j;
    c[dst] = b[dst] + a[src];
}
