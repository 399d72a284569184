/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [128]
args = ["x", "w", "b", "y", "eps", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
__device__ float total(float v, float* s) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor(v, d);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = v;
    __syncthreads();
    return s[0] + s[1] + s[2] + s[3];
}
extern "C" __global__ __launch_bounds__(128) void k(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, float eps, int rows, int cols) {
    __shared__ float s[4];
    const int t = threadIdx.x;
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float acc = 0.0f;
    for (int j = t; j < cols; j += 128) acc += x[j];
    const float mean = total(acc, s) / cols;
    acc = 0.0f;
    for (int j = t; j < cols; j += 128) { float v = x[j] - mean; acc += v * v; }
    const float scale = 1.0f / sqrtf(total(acc, s) / cols + eps);
    for (int j = t; j < cols; j += 128) y[j] = (x[j] - mean) * scale * w[j] + b[j];
}
