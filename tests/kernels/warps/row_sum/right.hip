/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [32]
args = ["x", "s", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* __restrict__ x, float* s, int rows, int cols) {
    const int t = threadIdx.x;
    const int r = blockIdx.x;
    float v = 0.0f;
    for (int c = t; c < cols; c += 32) v += x[(long)r * cols + c];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor(v, d);
    if (t == 0) s[r] = v;
}
