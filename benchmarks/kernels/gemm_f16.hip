/*+++
[[launch]]
kernel = "gemm_f16"
grid = ["cols // BN", "rows // BM"]
block = ["WM * WN * 64"]
args = ["a", "b", "c", "rows", "cols", "inner"]

[tunables]
BM = [64, 128]
BN = [64, 128]
BK = [16, 32, 64]
WM = [1, 2, 4]       # waves along rows
WN = [1, 2, 4]       # waves along columns
INST = [32, 16]      # rows and columns of the matrix instruction
PAD = [0, 8]         # elements behind each row of a tile in LDS

[constraints]
waves = "WM * WN <= 8"
rows = "BM % (WM * INST) == 0"
cols = "BN % (WN * INST) == 0"
lds = "(BM + BN) * (BK + PAD) * 2 <= 65536"
sums = "(BM // WM) * (BN // WN) <= 8192"
few = "(BM // WM) * (BN // WN) >= 2048"
+++*/
#include <hip/hip_runtime.h>

typedef _Float16 Four __attribute__((ext_vector_type(4)));
typedef _Float16 Eight __attribute__((ext_vector_type(8)));
constexpr int THREADS = WM * WN * 64, TM = BM / WM / INST, TN = BN / WN / INST, STRIDE = BK + PAD;
#if INST == 32
typedef float Tile __attribute__((ext_vector_type(16)));
constexpr int STEP = 8, SUMS = 16;
__device__ Tile multiply(Four a, Four b, Tile sum) { return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, sum, 0, 0, 0); }
__device__ int row_of(int r, int group) { return r / 4 * 8 + group * 4 + r % 4; }
#else
typedef float Tile __attribute__((ext_vector_type(4)));
constexpr int STEP = 16, SUMS = 4;
__device__ Tile multiply(Four a, Four b, Tile sum) { return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, sum, 0, 0, 0); }
__device__ int row_of(int r, int group) { return group * 4 + r; }
#endif

template <int ROWS>
__device__ void stage(const _Float16* from, int inner, _Float16* tile) {
#pragma unroll
    for (int unit = threadIdx.x; unit < ROWS * BK / 8; unit += THREADS) {
        const int row = unit / (BK / 8), at = unit % (BK / 8) * 8;
        *(Eight*)(tile + row * STRIDE + at) = *(const Eight*)(from + (long)row * inner + at);
    }
}

// C = A * B^T, both with rows along k; extents are multiples of the tile's.
extern "C" __global__ __launch_bounds__(THREADS) void gemm_f16(const _Float16* __restrict__ a,
                                                               const _Float16* __restrict__ b, float* __restrict__ c,
                                                               int rows, int cols, int inner) {
    __shared__ __attribute__((aligned(16))) _Float16 as[BM * STRIDE], bs[BN * STRIDE];
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, spot = lane % INST, group = lane / INST;
    const int top = wave / WN * (BM / WM), left = wave % WN * (BN / WN);
    a += (long)blockIdx.y * BM * inner;
    b += (long)blockIdx.x * BN * inner;
    Tile sum[TM][TN] = {};
    for (int start = 0; start < inner; start += BK) {
        stage<BM>(a + start, inner, as);
        stage<BN>(b + start, inner, bs);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k += STEP) {
            Four of_a[TM], of_b[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) of_a[i] = *(const Four*)(as + (top + i * INST + spot) * STRIDE + k + group * 4);
#pragma unroll
            for (int j = 0; j < TN; ++j) of_b[j] = *(const Four*)(bs + (left + j * INST + spot) * STRIDE + k + group * 4);
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) sum[i][j] = multiply(of_a[i], of_b[j], sum[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j)
#pragma unroll
            for (int r = 0; r < SUMS; ++r)
                c[((long)blockIdx.y * BM + top + i * INST + row_of(r, group)) * cols + blockIdx.x * BN + left + j * INST +
                  spot] = sum[i][j][r];
}
