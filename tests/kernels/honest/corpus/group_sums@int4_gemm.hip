/*+++
[[launch]]
kernel = "g"
grid = ["n", "m"]
block = [64]
lds = "0"
args = ["x", "w", "scale", "y", "n", "k"]
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

extern "C" __global__ __launch_bounds__(64) void g(const unsigned short* x, const unsigned char* w, const float* scale,
                                                   unsigned short* y, int n, int k) {
    const int j = blockIdx.x, i = blockIdx.y;
    float total = 0;
    for (int g = 0; g < k / 128; ++g) {
        const int kk = g * 128 + 2 * threadIdx.x, both = w[((long)j * k + kk) / 2];
        const float p = widen(x[(long)i * k + kk]), q = widen(x[(long)i * k + kk + 1]);
        float s = p * (both & 15) + q * (both >> 4), e = p + q;  // the offset of 8 once for each group
        s = wave_sum(s);
        e = wave_sum(e);
        total = fmaf(s - 8.0f * e, scale[(long)j * (k / 128) + g], total);
    }
    if (threadIdx.x == 0) y[(long)i * n + j] = narrow(total);
}
