/*+++
[[launch]]
kernel = "loop_in_the_instruction_cache"
grid = ["304"]
block = [256]
args = ["x", "y", "n", "turns"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// A wave a SIMD. Fast: a turn of the loop is 1 KiB of code. Slow: 128 KiB, of which the instruction cache of two units
// holds 64.
constexpr int STEPS = FAST ? 128 : 16384;
extern "C" __global__ __launch_bounds__(256) void loop_in_the_instruction_cache(const float* __restrict__ x,
                                                                                float* __restrict__ y, int n,
                                                                                int turns) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 304 * 256) {
        const float by = x[i];
        float v = by;
        int t = 0;
#pragma unroll 1
        for (; t + STEPS <= turns; t += STEPS)
#pragma unroll
            for (int u = 0; u < STEPS; ++u) v = fmaf(v, by, 0.5f);
#pragma unroll 1
        for (; t < turns; ++t) v = fmaf(v, by, 0.5f);
        y[i] = v;
    }
}
