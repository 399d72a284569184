/*+++
[[launch]]
kernel = "unrolled_steps"
grid = ["n // 4096"]
block = [256]
args = ["x", "y", "turns"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: 32 steps a turn of the loop. Slow: one step a turn, so that a counter, a comparison and a taken branch stand
// beside every multiply-add. A wave a SIMD, which no other hides.
extern "C" __global__ __launch_bounds__(256) void unrolled_steps(const float* __restrict__ x, float* __restrict__ y,
                                                                 int turns) {
    for (int j = 0; j < 16; ++j) {
        const int i = blockIdx.x * 4096 + j * 256 + threadIdx.x;
        const float by = x[i];
        float v = by;
#if FAST
        for (int t = 0; t < turns; t += 32)
#pragma unroll
            for (int u = 0; u < 32; ++u) v = fmaf(v, by, 0.5f);
#else
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            v = fmaf(v, by, 0.5f);
            __builtin_amdgcn_sched_barrier(0);
        }
#endif
        y[i] = v;
    }
}
