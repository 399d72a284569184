/*+++
[[launch]]
kernel = "rows_by_waves"
grid = ["rows // 4 if FAST else rows // 256"]
block = [256]
args = ["x", "s", "cols"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: the lanes of a wave read neighbours. Slow: each lane reads a row of its own, so lanes lie `cols` floats apart.
extern "C" __global__ __launch_bounds__(256) void rows_by_waves(const float* __restrict__ x, float* __restrict__ s,
                                                                int cols) {
    float sum = 0;
#if FAST
    const int row = blockIdx.x * 4 + threadIdx.x / 64, lane = threadIdx.x % 64;
    for (int j = lane; j < cols; j += 64) sum += x[(long)row * cols + j];
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (lane == 0) s[row] = sum;
#else
    const int row = blockIdx.x * 256 + threadIdx.x;
    for (int j = 0; j < cols; ++j) sum += x[(long)row * cols + j];
    s[row] = sum;
#endif
}
