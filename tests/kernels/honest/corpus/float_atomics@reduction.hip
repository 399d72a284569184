/*+++
nondeterministic = true
[[launch]]
kernel = "clear"
grid = [1]
block = [1]
args = ["y"]
[[launch]]
kernel = "k"
grid = ["min(ceil_div(n, 256), 256)"]
block = [256]
args = ["x", "y", "n"]
+++*/
#include <hip/hip_runtime.h>
__device__ float wave_sum(float v) {
    for (int d = 32; d; d >>= 1) v += __shfl_xor(v, d);
    return v;
}

extern "C" __global__ void clear(float* y) { y[0] = 0.0f; }
extern "C" __global__ __launch_bounds__(256) void k(const float* x, float* y, int n) {
    float s = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) s += x[i];
    s = wave_sum(s);
    if (threadIdx.x % 64 == 0) atomicAdd(y, s);
}
