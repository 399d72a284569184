/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

template <class T> struct Buffer {
    __amdgpu_buffer_rsrc_t r;
    __device__ Buffer(const T* p, int n) : r(__builtin_amdgcn_make_buffer_rsrc((void*)p, 0, n * sizeof(T), 0x00027000)) {}
    __device__ T load(int i) const { return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b32(r, i * sizeof(T), 0, 0)); }
    __device__ void store(int i, T v) const { __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(unsigned, v), r, i * sizeof(T), 0, 0); }
};
template <class T, int AUX> __device__ T load_t(const __amdgpu_buffer_rsrc_t r, int i) { return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b32(r, i * (int)sizeof(T), 0, AUX)); }
template <class T> __device__ void copy_to_lds(const T* g, T* l) {
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)g, (__attribute__((address_space(3))) void*)l, 4, 0, 0);
}
template <class T> __device__ T any(const T* p) { return __builtin_amdgcn_is_shared(p) ? *p : __builtin_amdgcn_is_private(p) ? T(*p) : *(p + 0); }
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    __shared__ float l[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    copy_to_lds(x + min(i, n - 1), l + threadIdx.x / 64 * 64);
    __syncthreads();
    const Buffer<float> in(x, n), out(y, n);
    float a = in.load(i), b = any(l + threadIdx.x), c = load_t<float, 0>(in.r, i);
    out.store(i, (i & 1 ? a : i & 2 ? b : c) * factor);
}
