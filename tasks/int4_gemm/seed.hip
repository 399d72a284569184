/*+++
[[launch]]
kernel = "gemm"
grid = ["ceil_div(n, 64)", "m"]
block = [64]
args = ["x", "w", "scale", "y", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

__device__ float widen(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// One work-item an element of y.
extern "C" __global__ __launch_bounds__(64) void gemm(const unsigned short* __restrict__ x,
                                                      const unsigned char* __restrict__ w,
                                                      const float* __restrict__ scale, unsigned short* __restrict__ y,
                                                      int n, int k) {
    const int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    float sum = 0.0f;
    for (int kk = 0; kk < k; kk += 2) {
        const int both = w[((long)j * k + kk) / 2];
        const float s = scale[(long)j * (k / 128) + kk / 128];
        sum += widen(x[(long)i * k + kk]) * ((both & 15) - 8) * s;
        sum += widen(x[(long)i * k + kk + 1]) * ((both >> 4) - 8) * s;
    }
    y[(long)i * n + j] = narrow(sum);
}
