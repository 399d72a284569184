/*+++
[[launch]]
kernel = "g"
grid = ["m", "batch"]
block = [64]
lds = "0"
args = ["a", "x", "y", "m", "k"]
+++*/
#include <hip/hip_runtime.h>
__device__ float wave_sum(float v) {
    for (int d = 32; d; d >>= 1) v += __shfl_xor(v, d);
    return v;
}

extern "C" __global__ __launch_bounds__(64) void g(const float* a, const float* x, float* y, int m, int k) {
    const long r = (long)blockIdx.y * m + blockIdx.x;
    float s = 0;
    for (int j = threadIdx.x; j < k; j += 64) s = fmaf(a[r * k + j], x[(long)blockIdx.y * k + j], s);
    s = wave_sum(s);
    if (threadIdx.x == 0) y[r] = s;
}
