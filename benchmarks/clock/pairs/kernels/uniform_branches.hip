/*+++
[[launch]]
kernel = "uniform_branches"
grid = ["n // 512"]
block = [256]
args = ["x", "y"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: a wave takes even places and then odd ones, each time one branch. Slow: neighbours, and both branches each time.
__device__ float linear(float x) {
    float v = x;
    for (int t = 0; t < 128; ++t) v = fmaf(v, x, 0.5f);
    return v;
}
__device__ float rooted(float v) {
    for (int t = 0; t < 128; ++t) v = __fsqrt_rn(fabsf(v) + 0.5f);
    return v;
}
extern "C" __global__ __launch_bounds__(256) void uniform_branches(const float* __restrict__ x, float* __restrict__ y) {
    for (int part = 0; part < 2; ++part) {
#if FAST
        const int i = blockIdx.x * 512 + threadIdx.x * 2 + part;
#else
        const int i = blockIdx.x * 512 + part * 256 + threadIdx.x;
#endif
        y[i] = i % 2 ? rooted(x[i]) : linear(x[i]);
    }
}
