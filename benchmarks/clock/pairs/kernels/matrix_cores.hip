/*+++
[[launch]]
kernel = "matrix_cores"
grid = ["n // 64", "m // 64"]
block = [256]
args = ["a", "b", "c", "n", "k"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

constexpr int TILE = 64, SLAB = 32, LONG = SLAB + 8;  // of C, of k, and a padded row of LDS
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float4v __attribute__((ext_vector_type(4)));

// Fast: matrix instructions. Slow: multiply-adds of the vector unit on the same tiles.
extern "C" __global__ __launch_bounds__(256) void matrix_cores(const _Float16* __restrict__ a,
                                                               const _Float16* __restrict__ b, float* __restrict__ c,
                                                               int n, int k) {
    __shared__ _Float16 ta[TILE * LONG], tb[TILE * LONG];
    const int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE, tid = threadIdx.x, wave = tid / 64, lane = tid % 64;
    const int row = tid / 4, part = tid % 4 * 8;
    float4v sum[4] = {};
    for (int l = 0; l < k; l += SLAB) {
        *(half8*)(ta + row * LONG + part) = *(const half8*)(a + (long)(i0 + row) * k + l + part);
        *(half8*)(tb + row * LONG + part) = *(const half8*)(b + (long)(j0 + row) * k + l + part);
        __syncthreads();
#if FAST
#pragma unroll
        for (int s = 0; s < SLAB; s += 16) {
            const int at = s + lane / 16 * 4;
            const half4 left = *(const half4*)(ta + (wave * 16 + lane % 16) * LONG + at);
#pragma unroll
            for (int j = 0; j < 4; ++j)
                sum[j] = __builtin_amdgcn_mfma_f32_16x16x16f16(
                    left, *(const half4*)(tb + (j * 16 + lane % 16) * LONG + at), sum[j], 0, 0, 0);
        }
#else
#pragma unroll
        for (int s = 0; s < SLAB; ++s)
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    sum[j][e] += (float)ta[(wave * 16 + lane / 16 * 4 + e) * LONG + s] *
                                 (float)tb[(j * 16 + lane % 16) * LONG + s];
#endif
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
            c[(long)(i0 + wave * 16 + lane / 16 * 4 + e) * n + j0 + j * 16 + lane % 16] = sum[j][e];
}
