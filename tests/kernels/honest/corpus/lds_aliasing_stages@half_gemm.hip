/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 32)", "ceil_div(m, 32)"]
block = [128]
lds = 8192
args = ["a","b","c","m","n","k"]
+++*/
#include <hip/hip_runtime.h>

typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));
extern __shared__ char lds[];
extern "C" __global__ void k(const _Float16* __restrict__ a, const _Float16* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    _Float16 (*sa)[32][20] = reinterpret_cast<_Float16 (*)[32][20]>(lds);
    _Float16 (*sb)[32][20] = (_Float16 (*)[32][20])(lds + 2 * 32 * 20 * sizeof(_Float16));
    const int t = threadIdx.x, lane = t % 64, wave = t / 64, m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
    f4 acc[2] = {f4(0), f4(0)};
    auto stage = [&](int buf, int k0) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int e = t + i * 128, r = e / 16, q = e % 16;
            sa[buf][r][q] = m0 + r < m ? a[(m0 + r) * k + k0 + q] : (_Float16)0.0f16;
            const int r2 = e % 32, q2 = e / 32;
            sb[buf][r2][q2] = n0 + r2 < n ? b[(k0 + q2) * n + n0 + r2] : static_cast<_Float16>(0);
        }
    };
    int buf = 0;
    stage(buf, 0);
    for (int k0 = 0; k0 < k; k0 += 16, buf ^= 1) {
        __builtin_amdgcn_s_waitcnt(0xc07f); __builtin_amdgcn_s_barrier();
        __syncthreads();
        if (k0 + 16 < k) stage(buf ^ 1, k0 + 16);
        const h4 vb = *(h4*)&sb[buf][wave * 16 + lane % 16][lane / 16 * 4];
        for (int u = 0; u < 2; ++u) acc[u] = __builtin_amdgcn_mfma_f32_16x16x16f16(*(const h4*)&sa[buf][u * 16 + lane % 16][lane / 16 * 4], vb, acc[u], 0, 0, 0);
        __builtin_amdgcn_sched_group_barrier(0x008, 2, 0); __builtin_amdgcn_sched_group_barrier(0x100, 2, 0);
    }
    __syncthreads();
    float (*out)[33] = reinterpret_cast<float (*)[33]>(lds);  // the same memory, as the result
    for (int u = 0; u < 2; ++u) for (int e = 0; e < 4; ++e) out[u * 16 + lane / 16 * 4 + e][wave * 16 + lane % 16] = acc[u][e];
    __syncthreads();
    for (int i = t; i < 1024; i += 128) { const int r = m0 + i / 32, q = n0 + i % 32; if (r < m && q < n) c[r * n + q] = out[i / 32][i % 32]; }
}
