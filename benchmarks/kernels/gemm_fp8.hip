/*+++
[[launch]]
kernel = "gemm_fp8"
grid = ["n // BN", "m // BM"]
block = ["WM * WN * 64"]
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]

[tunables]
BM = [32, 64, 128]
BN = [32, 64, 128]
WM = [1, 2, 4]       # waves along m
WN = [1, 2, 4]       # waves along n
INST = [32, 16]      # rows and columns of the matrix instruction
PAD = [0, 8]         # bytes behind each row of a tile in LDS
DOWN = [4, 1]        # rows that one load of global memory takes

[constraints]
waves = "WM * WN <= 8"
rows = "BM % (WM * INST) == 0"
cols = "BN % (WN * INST) == 0"
lds = "(BM + BN) * (128 + PAD) <= 65000"
few = "(BM // WM) * (BN // WN) >= 512"
+++*/
#include <hip/hip_runtime.h>

constexpr int BK = 128, THREADS = WM * WN * 64, TM = BM / WM / INST, TN = BN / WN / INST, STRIDE = BK + PAD;
#if INST == 32
typedef float Tile __attribute__((ext_vector_type(16)));
constexpr int STEP = 16, SUMS = 16;
__device__ Tile multiply(long a, long b, Tile sum) {
    return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, sum, 0, 0, 0);
}
__device__ int row_of(int r, int group) { return r / 4 * 8 + group * 4 + r % 4; }
#else
typedef float Tile __attribute__((ext_vector_type(4)));
constexpr int STEP = 32, SUMS = 4;
__device__ Tile multiply(long a, long b, Tile sum) {
    return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, sum, 0, 0, 0);
}
__device__ int row_of(int r, int group) { return group * 4 + r; }
#endif

__device__ unsigned short to_bf16(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Column-major in memory, runs along k in LDS: DOWN x 4 bytes are turned on the way.
template <int ROWS>
__device__ void stage(const unsigned char* from, int rows, unsigned char* tile) {
#pragma unroll
    for (int unit = threadIdx.x; unit < (ROWS / DOWN) * (BK / 4); unit += THREADS) {
        const int row = unit % (ROWS / DOWN) * DOWN, column = unit / (ROWS / DOWN) * 4;
        const unsigned char* p = from + row + (long)rows * column;
#if DOWN == 4
        unsigned words[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) words[q] = *(const unsigned*)(p + (long)rows * q);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            unsigned turned = 0;
#pragma unroll
            for (int q = 0; q < 4; ++q) turned |= ((words[q] >> (8 * r)) & 0xffu) << (8 * q);
            *(unsigned*)(tile + (row + r) * STRIDE + column) = turned;
        }
#else
        unsigned turned = 0;
#pragma unroll
        for (int q = 0; q < 4; ++q) turned |= (unsigned)p[(long)rows * q] << (8 * q);
        *(unsigned*)(tile + row * STRIDE + column) = turned;
#endif
    }
}

// c = a * b^T with a scale for each row of a and each 128 of b, by blocks of 128 along k; extents are the tiles' multiples.
extern "C" __global__ __launch_bounds__(THREADS) void gemm_fp8(
    const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, const float* __restrict__ a_scale,
    const float* __restrict__ b_scale, unsigned short* __restrict__ c, int m, int n, int k) {
    __shared__ __attribute__((aligned(16))) unsigned char as[BM * STRIDE], bs[BN * STRIDE];
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, spot = lane % INST, group = lane / INST;
    const int top = wave / WN * (BM / WM), left = wave % WN * (BN / WN);
    const int first_i = blockIdx.y * BM, first_j = blockIdx.x * BN;
    Tile total[TM][TN] = {};
    for (int block = 0; block < k / BK; ++block) {
        stage<BM>(a + first_i + (long)m * block * BK, m, as);
        stage<BN>(b + first_j + (long)n * block * BK, n, bs);
        __syncthreads();
        Tile sum[TM][TN] = {};
#pragma unroll
        for (int step = 0; step < BK; step += STEP) {
            long of_a[TM], of_b[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) of_a[i] = *(const long*)(as + (top + i * INST + spot) * STRIDE + step + 8 * group);
#pragma unroll
            for (int j = 0; j < TN; ++j) of_b[j] = *(const long*)(bs + (left + j * INST + spot) * STRIDE + step + 8 * group);
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) sum[i][j] = multiply(of_a[i], of_b[j], sum[i][j]);
        }
        const float of_b = b_scale[first_j / 128 + (n + 127) / 128 * block];
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int r = 0; r < SUMS; ++r) {
                const float scale = of_b * a_scale[first_i + top + i * INST + row_of(r, group) + (long)m * block];
#pragma unroll
                for (int j = 0; j < TN; ++j) total[i][j][r] += sum[i][j][r] * scale;
            }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j)
#pragma unroll
            for (int r = 0; r < SUMS; ++r)
                c[(long)(first_i + top + i * INST + row_of(r, group)) * n + first_j + left + j * INST + spot] =
                    to_bf16(total[i][j][r]);
}
