/*+++
[[launch]]
kernel = "small_workgroups"
grid = ["n // 1024 if FAST else n // 64"]
block = ["256 if FAST else 64"]
args = ["x", "y"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: 16 bytes a lane and 256 lanes a workgroup. Slow: 4 bytes and 64 lanes, so that a million workgroups start.
#if FAST
typedef float4 item;
#else
typedef float item;
#endif
extern "C" __global__ __launch_bounds__(256) void small_workgroups(const item* __restrict__ x, item* __restrict__ y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = -2.0f * x[i];
}
