/*+++
[[launch]]
kernel = "copied"
grid = ["rows"]
block = [256]
args = ["x", "wide", "cols"]
[[launch]]
kernel = "turned"
grid = ["rows // 64", "cols // 4"]
block = [256]
args = ["wide", "y", "rows", "cols"]
[workspace]
wide = ["f32", "rows", "cols + 80"]
[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// A copy with a pitch, then its transpose by lanes that read a pitch apart. Fast: 320 bytes more than a power of two, so
// that the lanes' lines lie in different sets and channels. Slow: a power of two, and all in the same.
constexpr int MORE = FAST ? 80 : 0;
extern "C" __global__ __launch_bounds__(256) void copied(const float* __restrict__ x, float* __restrict__ wide,
                                                         int cols) {
    for (int j = threadIdx.x; j < cols; j += 256)
        wide[(long)blockIdx.x * (cols + MORE) + j] = x[(long)blockIdx.x * cols + j];
}
extern "C" __global__ __launch_bounds__(256) void turned(const float* __restrict__ wide, float* __restrict__ y,
                                                         int rows, int cols) {
    const int i = blockIdx.x * 64 + threadIdx.x % 64, j = blockIdx.y * 4 + threadIdx.x / 64;
    y[(long)j * rows + i] = wide[(long)i * (cols + MORE) + j];
}
