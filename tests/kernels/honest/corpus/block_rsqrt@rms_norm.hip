/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [128]
lds = "0"
args = ["x", "w", "y", "rows", "cols", "eps"]
+++*/
#include <hip/hip_runtime.h>
__device__ float widen(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }
__device__ unsigned short narrow(float value) {
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
__device__ float wave_sum(float v) {
    for (int d = 32; d; d >>= 1) v += __shfl_xor(v, d);
    return v;
}

extern "C" __global__ __launch_bounds__(128) void k(const unsigned short* x, const unsigned short* w, unsigned short* y,
                                                    int rows, int cols, float eps) {
    __shared__ float part[2];
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float s = 0;
    for (int j = threadIdx.x; j < cols; j += 128) {
        const float v = widen(x[j]);
        s = fmaf(v, v, s);
    }
    s = wave_sum(s);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = s;
    __syncthreads();
    const float r = __builtin_amdgcn_rsqf((part[0] + part[1]) * (1.0f / cols) + eps);
    for (int j = threadIdx.x; j < cols; j += 128) y[j] = narrow(widen(x[j]) * r * widen(w[j]));
}
