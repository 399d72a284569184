/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 32)", "ceil_div(m, 32)"]
block = [64]
args = ["a","b","c","m","n","k"]
+++*/
#include <hip/hip_runtime.h>

template <typename T, int N> using vec = T __attribute__((ext_vector_type(N)));
enum class Kind { M16, M32 };
template <Kind K, class A, class C> __device__ C mma(const A& a, const A& b, const C& c) {
    if constexpr (K == Kind::M32) return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
    else return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
}
template <class T> struct Acc { T v = {}; template <class A> __device__ void add(A a, A b) { v = mma<Kind::M32>(a, b, v); } };
extern "C" __global__ void k(const _Float16* a, const _Float16* b, float* c, int m, int n, int k) {
    const int lane = threadIdx.x, m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
    Acc<vec<float, 16>> acc;
    for (int q = 0; q < k; q += 8) {
        vec<_Float16, 4> va = {}, vb = {};
        const int kk = q + lane / 32 * 4, r = m0 + lane % 32, s = n0 + lane % 32;
#pragma unroll
        for (int e = 0; e < 4; ++e) { if (r < m) va[e] = a[r * k + kk + e]; if (s < n) vb[e] = b[(kk + e) * n + s]; }
        acc.add(va, vb);
    }
    for (int e = 0; e < 16; ++e) {
        const int r = m0 + e / 4 * 8 + lane / 32 * 4 + e % 4, s = n0 + lane % 32;
        if (r < m && s < n) c[r * n + s] = acc.v[e];
    }
}
