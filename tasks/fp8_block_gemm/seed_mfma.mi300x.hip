/*+++
[[launch]]
kernel = "fp8_block_gemm"
grid = ["ceil_div(n, 64)", "ceil_div(m, 64)"]
block = ["256"]
lds = "0"
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

typedef float Tile __attribute__((ext_vector_type(16)));

constexpr int BM = 64, BN = 64, BK = 128;
constexpr int STRIDE = BK + 8;  // bytes of one row in LDS: the 8 spread the rows over the banks and keep 8-byte loads

__device__ unsigned short to_bf16(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Four neighbouring rows of column kk, one a byte; zeros outside the matrix add nothing to the product.
__device__ unsigned load_rows(const unsigned char* matrix, int row, int rows, int kk, int k) {
    if (kk >= k) return 0;
    const unsigned char* p = matrix + row + (long)rows * kk;
    if (row + 4 <= rows && rows % 4 == 0) return *(const unsigned*)p;
    unsigned word = 0;
    for (int r = 0; r < 4; ++r)
        if (row + r < rows) word |= (unsigned)p[r] << (8 * r);
    return word;
}

// The matrices are column-major, the matrix cores want runs along k: 4 x 4 bytes are turned on the way into LDS.
__device__ void stage(const unsigned char* matrix, int first_row, int rows, int first_k, int k, unsigned char* tile) {
    for (int unit = threadIdx.x; unit < (BM / 4) * (BK / 4); unit += 256) {
        const int row = unit % (BM / 4) * 4, column = unit / (BM / 4) * 4;
        unsigned words[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) words[q] = load_rows(matrix, first_row + row, rows, first_k + column + q, k);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            unsigned turned = 0;
#pragma unroll
            for (int q = 0; q < 4; ++q) turned |= ((words[q] >> (8 * r)) & 0xffu) << (8 * q);
            *(unsigned*)(tile + (row + r) * STRIDE + column) = turned;
        }
    }
}

// A block of four waves computes 64 x 64 of c, each wave a quarter of 32 x 32 by MFMA.
extern "C" __global__ __launch_bounds__(256) void fp8_block_gemm(
    const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, const float* __restrict__ a_scale,
    const float* __restrict__ b_scale, unsigned short* __restrict__ c, int m, int n, int k) {
    __shared__ __attribute__((aligned(16))) unsigned char a_tile[BM * STRIDE];
    __shared__ __attribute__((aligned(16))) unsigned char b_tile[BN * STRIDE];
    __shared__ float scales[BM];

    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    const int first_i = blockIdx.y * BM, first_j = blockIdx.x * BN;
    const int quarter_i = wave / 2 * 32, quarter_j = wave % 2 * 32;
    const int half = lane / 32, spot = lane % 32;
    const int scale_rows = (n + 127) / 128;
    const int j = first_j + quarter_j + spot;

    Tile total = {};
    for (int start = 0; start < k; start += BK) {
        const int block = start / BK;
        stage(a, first_i, m, start, k, a_tile);
        stage(b, first_j, n, start, k, b_tile);
        if (threadIdx.x < BM)
            scales[threadIdx.x] = first_i + threadIdx.x < m ? a_scale[first_i + threadIdx.x + (long)m * block] : 0.0f;
        __syncthreads();

        Tile sum = {};
#pragma unroll
        for (int step = 0; step < BK; step += 16) {
            // Lanes 0-31 hold k 0 to 7 of their row, lanes 32-63 hold k 8 to 15.
            const long of_a = *(const long*)(a_tile + (quarter_i + spot) * STRIDE + step + 8 * half);
            const long of_b = *(const long*)(b_tile + (quarter_j + spot) * STRIDE + step + 8 * half);
            sum = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(of_a, of_b, sum, 0, 0, 0);
        }
        // A tile never straddles two scales of b: tiles start at multiples of 64, scales change at multiples of 128.
        const float of_b = b_scale[first_j / 128 + scale_rows * block];
#pragma unroll
        for (int r = 0; r < 16; ++r) total[r] += sum[r] * scales[quarter_i + r / 4 * 8 + half * 4 + r % 4] * of_b;
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        const int i = first_i + quarter_i + r / 4 * 8 + half * 4 + r % 4;
        if (i < m && j < n) c[(long)i * n + j] = to_bf16(total[r]);
    }
}
