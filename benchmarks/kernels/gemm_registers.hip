/*+++
[[launch]]
kernel = "gemm_registers"
grid = ["cols // BN", "rows // BM"]
block = ["(BN // TN) * (BM // TM)"]
args = ["a", "b", "c", "rows", "cols", "inner"]

[tunables]
BM = [64, 128, 32]
BN = [64, 128, 32]
BK = [8, 16, 32]
TM = [4, 8, 2, 1]
TN = [4, 8, 2, 1]
WIDE = [0, 1]   # 1: the elements of a work-item lie side by side, 0: a block's width apart

[constraints]
threads = "(BN // TN) * (BM // TM) <= 1024"
+++*/
#include <hip/hip_runtime.h>

constexpr int ACROSS = BN / TN, THREADS = (BN / TN) * (BM / TM), DOWN = BM / TM;

// BM x BN elements of C a block, TM x TN a work-item; extents are multiples of the block's.
extern "C" __global__ __launch_bounds__(THREADS) void gemm_registers(const float* __restrict__ a, const float* __restrict__ b,
                                                                     float* __restrict__ c, int rows, int cols, int inner) {
    __shared__ float as[BK * (BM + 4)], bs[BK * BN];
    const int t = threadIdx.x, tx = t % ACROSS, ty = t / ACROSS;
    const int left = blockIdx.x * BN, top = blockIdx.y * BM;
    float sum[TM][TN];
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
    for (int k0 = 0; k0 < inner; k0 += BK) {
#pragma unroll
        for (int e = t; e < BM * BK; e += THREADS)
            as[e % BK * (BM + 4) + e / BK] = a[(long)(top + e / BK) * inner + k0 + e % BK];
#pragma unroll
        for (int e = t; e < BK * BN; e += THREADS) bs[e] = b[(long)(k0 + e / BN) * cols + left + e % BN];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float ra[TM], rb[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) ra[i] = as[k * (BM + 4) + (WIDE ? ty * TM + i : ty + i * DOWN)];
#pragma unroll
            for (int j = 0; j < TN; ++j) rb[j] = bs[k * BN + (WIDE ? tx * TN + j : tx + j * ACROSS)];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) sum[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int row = top + (WIDE ? ty * TM + i : ty + i * DOWN), col = left + (WIDE ? tx * TN + j : tx + j * ACROSS);
            c[(long)row * cols + col] = sum[i][j];
        }
}
