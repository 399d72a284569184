/*+++
[[launch]]
kernel = "readers_on_one_chiplet"
grid = ["rows // 16 * 8"]
block = [256]
args = ["x", "s", "rows", "cols"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Eight workgroups read the same 16 rows, each for another power. Workgroup i runs on chiplet i mod 8. Fast: the eight
// are 8 apart, so that they share one L2. Slow: they are neighbours, one on each chiplet.
extern "C" __global__ __launch_bounds__(256) void readers_on_one_chiplet(const float* __restrict__ x,
                                                                         float* __restrict__ s, int rows, int cols) {
#if FAST
    const int power = blockIdx.x / 8 % 8, part = blockIdx.x / 64 * 8 + blockIdx.x % 8;
#else
    const int power = blockIdx.x % 8, part = blockIdx.x / 8;
#endif
    for (int row = part * 16 + threadIdx.x / 64; row < part * 16 + 16; row += 4) {
        float sum = 0;
        for (int j = threadIdx.x % 64; j < cols / 4; j += 64) {
            const float4 v = ((const float4*)(x + (long)row * cols))[j];
            float4 w = v;
            for (int p = 0; p < power; ++p) w.x *= v.x, w.y *= v.y, w.z *= v.z, w.w *= v.w;
            sum += w.x + w.y + w.z + w.w;
        }
        for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
        if (threadIdx.x % 64 == 0) s[power * rows + row] = sum;
    }
}
