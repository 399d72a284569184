/*+++
[[launch]]
kernel = "whole_lines_at_once"
grid = ["n // 256"]
block = [256]
args = ["x", "y", "n"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: a wave takes two lines. Slow: a quarter of each of eight lines, and the other quarters much later, when the
// caches have lost them.
extern "C" __global__ __launch_bounds__(256) void whole_lines_at_once(const float* __restrict__ x,
                                                                      float* __restrict__ y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
#if !FAST
    const int quarter = i / (n / 4), j = i % (n / 4);
    i = j / 8 * 32 + quarter * 8 + j % 8;
#endif
    y[i] = -2.0f * x[i];
}
