/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 1024)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

typedef float float4_ __attribute__((ext_vector_type(4)));
template <class T> __device__ __forceinline__ T ldg_nt(const T* p) { return __builtin_nontemporal_load(p); }
template <class T> __device__ __forceinline__ void stg_nt(T* p, T v) { __builtin_nontemporal_store(v, p); }
extern "C" __global__ void k(const float* __restrict__ x, float* __restrict__ y, int n, float factor) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    __builtin_prefetch(x + (i < n ? i : 0));
    if (__builtin_expect(i + 3 < n, 1)) {
        __builtin_assume(i % 4 == 0);
        const float4_* src = (const float4_*)__builtin_assume_aligned(x, 16);
        float4_ v = ldg_nt(src + i / 4);
        stg_nt((float4_*)y + (i >> 2), v * factor);
    } else if (i < n) {
        int j = i;
        do { y[j] = x[j] * factor; } while (++j < n);
    }
}
