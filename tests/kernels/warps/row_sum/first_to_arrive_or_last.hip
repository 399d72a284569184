/*+++
[[launch]]
kernel = "k"
grid = ["rows", 4]
block = [32]
args = ["x", "s", "rows", "cols"]
fill = {s = 0}
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* __restrict__ x, float* s, int rows, int cols) {
    const int t = threadIdx.x;
    const int r = blockIdx.x, q = blockIdx.y;
    float v = 0.0f;
    for (int c = t + 32 * q; c < cols; c += 128) v += x[(long)r * cols + c];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor(v, d);
    if (t == 0) { volatile float* to = s + r; const float old = *to; *to = old + v; }
}
