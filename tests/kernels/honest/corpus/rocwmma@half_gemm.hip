/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
block = [64]
args = ["a","b","c","m","n","k"]
+++*/
#include <hip/hip_runtime.h>

#include <rocwmma/rocwmma.hpp>
using rocwmma::float16_t; using rocwmma::float32_t;
extern "C" __global__ void k(const float16_t* a, const float16_t* b, float32_t* c, int m, int n, int k) {
    __shared__ float16_t sa[16 * 16], sb[16 * 16];
    __shared__ float sc[256];
    const int m0 = blockIdx.y * 16, n0 = blockIdx.x * 16;
    rocwmma::fragment<rocwmma::matrix_a, 16, 16, 16, float16_t, rocwmma::row_major> fa;
    rocwmma::fragment<rocwmma::matrix_b, 16, 16, 16, float16_t, rocwmma::row_major> fb;
    rocwmma::fragment<rocwmma::accumulator, 16, 16, 16, float32_t> acc;
    rocwmma::fill_fragment(acc, 0.0f);
    for (int q = 0; q < k; q += 16) {
        for (int i = threadIdx.x; i < 256; i += 64) { int r = i / 16, e = i % 16;
            sa[i] = m0 + r < m ? a[(m0 + r) * k + q + e] : float16_t(0); sb[i] = n0 + e < n ? b[(q + r) * n + n0 + e] : float16_t(0); }
        __syncthreads();
        rocwmma::load_matrix_sync(fa, sa, 16); rocwmma::load_matrix_sync(fb, sb, 16);
        rocwmma::mma_sync(acc, fa, fb, acc);
        __syncthreads();
    }
    rocwmma::store_matrix_sync(sc, acc, 16, rocwmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 64) if (m0 + i / 16 < m && n0 + i % 16 < n) c[(m0 + i / 16) * n + n0 + i % 16] = sc[i];
}
