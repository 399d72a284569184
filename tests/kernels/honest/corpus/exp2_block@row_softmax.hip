/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [256]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
__device__ float wave_sum(float v) {
    for (int d = 32; d; d >>= 1) v += __shfl_xor(v, d);
    return v;
}
__device__ float wave_max(float v) {
    for (int d = 32; d; d >>= 1) v = fmaxf(v, __shfl_xor(v, d));
    return v;
}

extern "C" __global__ __launch_bounds__(256) void k(const float* __restrict__ x, float* __restrict__ y, int rows,
                                                    int cols) {
    __shared__ float part[4];
    const float log2e = 1.4426950408889634f;
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float m = -INFINITY;
    for (int j = threadIdx.x; j < cols; j += 256) m = fmaxf(m, x[j]);
    m = wave_max(m);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = m;
    __syncthreads();
    m = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    __syncthreads();
    float s = 0;
    for (int j = threadIdx.x; j < cols; j += 256) s += exp2f((x[j] - m) * log2e);
    s = wave_sum(s);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = s;
    __syncthreads();
    s = part[0] + part[1] + part[2] + part[3];
    const float inv = 1.0f / s;
    for (int j = threadIdx.x; j < cols; j += 256) y[j] = exp2f((x[j] - m) * log2e) * inv;
}
