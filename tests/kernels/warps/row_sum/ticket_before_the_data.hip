/*+++
[[launch]]
kernel = "k"
grid = ["2 * rows"]
block = [32]
args = ["x", "s", "part", "tick", "rows", "cols"]
fill = {tick = 0}
[workspace]
part = ["f32", "2 * rows"]
tick = ["i32", "rows"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* __restrict__ x, float* s, float* part, int* tick, int rows, int cols) {
    const int t = threadIdx.x;
    const int r = blockIdx.x / 2, h = blockIdx.x & 1;
    float v = 0.0f;
    for (int c = t + 32 * h; c < cols; c += 64) v += x[(long)r * cols + c];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor(v, d);
    if (t == 0) {
        const int mine = atomicAdd(tick + r, 1);
        ((volatile float*)part)[blockIdx.x] = v;
        if (mine == 1) s[r] = ((volatile float*)part)[2 * r] + ((volatile float*)part)[2 * r + 1];
    }
}
