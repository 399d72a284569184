/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

template <class T, bool HI> __device__ int pack(T a, T b, int old) { return __builtin_amdgcn_cvt_pk_fp8_f32(a, b, old, HI); }
template <int B, class W> __device__ auto unpack(W w) { return __builtin_amdgcn_cvt_f32_fp8(w, B); }
template <class W> __device__ auto unpack2(W w) { return __builtin_amdgcn_cvt_pk_f32_fp8(w, false); }
template <class T> __device__ T sel(T a, T b, T s) { return __builtin_amdgcn_perm(a, b, s); }
template <class T> __device__ T bfe(T a) { return __builtin_amdgcn_ubfe(a, 0, 8); }
template <class T> __device__ T med(T a, T b, T c) { return __builtin_amdgcn_fmed3f(a, b, c); }
template <class T> __device__ int dot(T a, T b) { return __builtin_amdgcn_sdot4(a, b, 0, false); }
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int w = pack<float, false>(1.f, 2.f, 0); w = pack<float, true>(4.f, 8.f, w);
    float z = unpack<0>(w) + unpack<3>(w) - 9.f + unpack2(w)[1] - 2.f;
    z += sel(1u, 2u, 0x07060504u) - 1u + bfe(0x100u) + med(1.f, 2.f, 3.f) - 2.f + dot(0x01010101, 0x01010101) - 4;
    if (i < n) y[i] = x[i] * factor + z;
}
