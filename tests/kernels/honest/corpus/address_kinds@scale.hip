/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

template <typename T> __device__ T read_any(const T* p) {
    if (__builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void*)p)) return *(const __attribute__((address_space(3))) T*)p;
    return *p;
}
template <typename T> __device__ bool local(const T* p) { return __builtin_amdgcn_is_shared(p) || __builtin_amdgcn_is_private((const void*)(p)); }
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    __shared__ float f[1];
    if (threadIdx.x == 0) f[0] = factor;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float priv[2] = {0.f, 0.f};
    priv[i & 1] += local(x) ? 1.f : 0.f;
    if (i < n) y[i] = read_any(x + i) * read_any(f) + priv[i & 1];
}
