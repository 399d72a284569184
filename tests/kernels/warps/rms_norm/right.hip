/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [128]
args = ["x", "w", "y", "eps", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
typedef unsigned short u16;
__device__ float wide(u16 v) { return __uint_as_float((unsigned)v << 16); }
__device__ u16 narrow(float v) {
    unsigned b = __float_as_uint(v);
    return (u16)((b + 0x7FFFu + ((b >> 16) & 1u)) >> 16);
}
extern "C" __global__ __launch_bounds__(128) void k(const u16* __restrict__ x, const u16* __restrict__ w, u16* __restrict__ y, float eps, int rows, int cols) {
    __shared__ float s[4];
    const int t = threadIdx.x;
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float acc = 0.0f;
    for (int j = t; j < cols; j += 128) { float v = wide(x[j]); acc += v * v; }
    for (int d = 16; d > 0; d >>= 1) acc += __shfl_xor(acc, d);
    if ((t & 31) == 0) s[t >> 5] = acc;
    __syncthreads();
    float scale = 1.0f / sqrtf((s[0] + s[1] + s[2] + s[3]) / cols + eps);
    for (int j = t; j < cols; j += 128) y[j] = narrow(wide(x[j]) * scale * wide(w[j]));
}
