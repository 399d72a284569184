/*+++
[[launch]]
kernel = "gemm"
grid = ["ceil_div(m, 64)", "ceil_div(n, 64)"]
block = [256]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

typedef float Tile __attribute__((ext_vector_type(16)));
typedef short Four __attribute__((ext_vector_type(4)));
typedef unsigned Words __attribute__((ext_vector_type(4)));

constexpr int BM = 64, BN = 64, BK = 32;
constexpr int STRIDE = BK + 8;  // elements of one row in LDS: the 8 spread the rows over the banks

__device__ float widen(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// 64 rows of 32 elements, 16 bytes a load; zeros outside the matrix add nothing to the product.
__device__ void stage(const unsigned short* matrix, int first_row, int rows, int start, int k, unsigned short* tile) {
    const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 8;
    Words words = {0, 0, 0, 0};
    if (first_row + row < rows) words = *(const Words*)(matrix + (long)(first_row + row) * k + start + column);
    *(Words*)(tile + row * STRIDE + column) = words;
}

// A block of four waves computes 64 x 64 of c, each wave a quarter of 32 x 32 by MFMA.
extern "C" __global__ __launch_bounds__(256) void gemm(const unsigned short* __restrict__ a,
                                                       const unsigned short* __restrict__ b,
                                                       unsigned short* __restrict__ c, int m, int n, int k) {
    __shared__ __attribute__((aligned(16))) unsigned short a_tile[BM * STRIDE];
    __shared__ __attribute__((aligned(16))) unsigned short b_tile[BN * STRIDE];
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    const int first_i = blockIdx.x * BM, first_j = blockIdx.y * BN;
    const int quarter_i = wave / 2 * 32, quarter_j = wave % 2 * 32;
    const int half = lane / 32, spot = lane % 32;
    const int j = first_j + quarter_j + spot;

    Tile sum = {};
    for (int start = 0; start < k; start += BK) {
        stage(a, first_i, m, start, k, a_tile);
        stage(b, first_j, n, start, k, b_tile);
        __syncthreads();
#pragma unroll
        for (int step = 0; step < BK; step += 8) {
            // Lanes 0-31 hold k 0 to 3 of their row, lanes 32-63 hold k 4 to 7.
            const Four of_a = *(const Four*)(a_tile + (quarter_i + spot) * STRIDE + step + 4 * half);
            const Four of_b = *(const Four*)(b_tile + (quarter_j + spot) * STRIDE + step + 4 * half);
            sum = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(of_a, of_b, sum, 0, 0, 0);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        const int i = first_i + quarter_i + r / 4 * 8 + half * 4 + r % 4;
        if (i < m && j < n) c[(long)i * n + j] = narrow(sum[r]);
    }
}
