/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef short s2 __attribute__((ext_vector_type(2)));
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    __shared__ h2 halves[64];
    __shared__ s2 brains[64];
    __shared__ double d;
    const int t = threadIdx.x;
    if (t < 64) { halves[t] = h2{0, 0}; brains[t] = s2{0, 0}; }
    if (t == 0) d = 0.0;
    __syncthreads();
    __builtin_amdgcn_ds_atomic_fadd_v2f16((__attribute__((address_space(3))) h2*)&halves[t & 63], h2{(_Float16)1, (_Float16)2});
    __builtin_amdgcn_ds_atomic_fadd_v2bf16((__attribute__((address_space(3))) s2*)&brains[t % 64], s2{0x3f80, 0x4000});
    atomicAdd(&d, 1.0);
    __syncthreads();
    const float zero = (float)halves[t & 63].x - 4.f + (float)halves[t & 63][1] - 8.f + __uint_as_float((unsigned)(unsigned short)brains[t & 63].x << 16) - 4.f + (float)d - 256.f;
    const int i = blockIdx.x * 256 + t;
    if (i < n) y[i] = x[i] * factor + zero;
}
