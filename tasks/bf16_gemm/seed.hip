/*+++
[[launch]]
kernel = "gemm"
grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
block = [16, 16]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

__device__ float widen(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// One work-item an element of c.
extern "C" __global__ __launch_bounds__(256) void gemm(const unsigned short* __restrict__ a,
                                                       const unsigned short* __restrict__ b,
                                                       unsigned short* __restrict__ c, int m, int n, int k) {
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0.0f;
    for (int kk = 0; kk < k; ++kk) sum += widen(a[(long)i * k + kk]) * widen(b[(long)j * k + kk]);
    c[(long)i * n + j] = narrow(sum);
}
