/*+++
[[launch]]
kernel = "strided_loads"
grid = ["cols // 64", "rows // 4"]
block = [64, 4]
args = ["x", "y", "rows", "cols"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Without LDS one side of a transpose is strided. Fast: the loads, whose lines the caches keep for neighbours. Slow: the
// stores.
extern "C" __global__ __launch_bounds__(256) void strided_loads(const float* __restrict__ x, float* __restrict__ y,
                                                                int rows, int cols) {
#if FAST
    const int linear = blockIdx.y * gridDim.x + blockIdx.x, i = linear % (rows / 64) * 64 + threadIdx.x;
    const int j = linear / (rows / 64) * 4 + threadIdx.y;
#else
    const int i = blockIdx.y * 4 + threadIdx.y, j = blockIdx.x * 64 + threadIdx.x;
#endif
    y[(long)j * rows + i] = x[(long)i * cols + j];
}
