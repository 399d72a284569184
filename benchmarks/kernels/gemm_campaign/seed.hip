/*+++
[[launch]]
kernel = "gemm"
grid = ["(m // BM) * (n // BN)"]
block = ["WM * WN * 64"]
args = ["a", "b", "c", "m", "n", "k"]

[tunables]
BM = [128, 256]     # rows of a tile
BN = [128, 256]     # columns of a tile
BK = [64, 32]       # elements of a step along k
WM = [2, 4]         # waves along rows
WN = [2]            # waves along columns
PAD = [0, 8]        # elements behind each row of a tile in LDS
SWIZZLE = [0, 1]    # 1: the parts of a row change places with its number, so that lanes below each other meet all banks
AHEAD = [0, 1]      # 1: the next step's loads are on their way while this one is multiplied
BUFFERS = [1, 2]    # of each tile in LDS; 2: one barrier a step
GROUP = [8]         # rows of tiles that follow one another down; 0: along rows
CHIPLETS = [1, 8]   # 8: neighbouring tiles go to one chiplet
REGISTERS = [0, 64] # that the compiler may take, or it spills; 0: as many as it likes
+++*/
#include <hip/hip_runtime.h>

#if REGISTERS
#define FEWER __attribute__((amdgpu_num_vgpr(REGISTERS)))
#else
#define FEWER
#endif
typedef _Float16 Four __attribute__((ext_vector_type(4)));
typedef _Float16 Eight __attribute__((ext_vector_type(8)));
typedef float Sums __attribute__((ext_vector_type(16)));
constexpr int THREADS = WM * WN * 64, TM = BM / WM / 32, TN = BN / WN / 32;
constexpr int PARTS = BK / 8, ROW = PARTS + PAD / 8;                                // of eight elements
constexpr int OF_A = BM * PARTS / THREADS, OF_B = BN * PARTS / THREADS;             // parts that a work-item loads

__device__ int place(int row, int part) { return row * ROW + (SWIZZLE ? part ^ row * PARTS / 8 % PARTS : part); }

// The tile of a workgroup, as row and column.
__device__ int2 tile_of(int number, int rows, int cols) {
    if (CHIPLETS > 1 && rows * cols % CHIPLETS == 0)
        number = number % CHIPLETS * (rows * cols / CHIPLETS) + number / CHIPLETS;
    if (GROUP == 0) return {number / cols, number % cols};
    const int first = number / (GROUP * cols) * GROUP, height = min(rows - first, GROUP);
    const int within = number - first * cols;
    return {first + within % height, within / height};
}

template <int COUNT>
__device__ void load(const Eight* from, int width, Eight (&parts)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int part = threadIdx.x + i * THREADS;
        parts[i] = from[(long)(part / PARTS) * width + part % PARTS];
    }
}

template <int COUNT>
__device__ void store(const Eight (&parts)[COUNT], Eight* tile) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int part = threadIdx.x + i * THREADS;
        tile[place(part / PARTS, part % PARTS)] = parts[i];
    }
}

// Lanes below 32 take the first eight elements of sixteen, the others the rest, of both operands alike.
__device__ void multiply(const Eight* as, const Eight* bs, int top, int left, Sums (&sum)[TM][TN]) {
    const int row = threadIdx.x % 32, group = threadIdx.x % 64 / 32;
#pragma unroll
    for (int part = 0; part < PARTS; part += 2) {
        Eight of_a[TM], of_b[TN];
#pragma unroll
        for (int i = 0; i < TM; ++i) of_a[i] = as[place(top + i * 32 + row, part + group)];
#pragma unroll
        for (int j = 0; j < TN; ++j) of_b[j] = bs[place(left + j * 32 + row, part + group)];
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j)
                    sum[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(half ? of_a[i].hi : of_a[i].lo,
                                                                     half ? of_b[j].hi : of_b[j].lo, sum[i][j], 0, 0, 0);
    }
}

extern "C" __global__ __launch_bounds__(THREADS) FEWER void gemm(const _Float16* __restrict__ a,
                                                                 const _Float16* __restrict__ b,
                                                                 float* __restrict__ c, int m, int n, int k) {
    __shared__ Eight as[BUFFERS][BM * ROW], bs[BUFFERS][BN * ROW];
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, width = k / 8, steps = k / BK;
    const int top = wave / WN * (BM / WM), left = wave % WN * (BN / WN);
    const int2 tile = tile_of(blockIdx.x, m / BM, n / BN);
    const Eight* from_a = (const Eight*)a + (long)tile.x * BM * width;
    const Eight* from_b = (const Eight*)b + (long)tile.y * BN * width;
    Eight of_a[OF_A], of_b[OF_B];
    Sums sum[TM][TN] = {};
    const auto fetch = [&](int step) {
        load(from_a + min(step, steps - 1) * PARTS, width, of_a);
        load(from_b + min(step, steps - 1) * PARTS, width, of_b);
    };
    const auto keep = [&](int buffer) { store(of_a, as[buffer]), store(of_b, bs[buffer]); };
    if (AHEAD || BUFFERS == 2) fetch(0);
    if (BUFFERS == 2) {
        keep(0);
        __syncthreads();
    }
    for (int step = 0; step < steps; ++step) {
        const int here = step % BUFFERS;
        if (BUFFERS == 1) {
            if (!AHEAD) fetch(step);
            keep(0);
            __syncthreads();
            if (AHEAD) fetch(step + 1);
        } else {
            fetch(step + 1);
        }
        multiply(as[here], bs[here], top, left, sum);
        if (BUFFERS == 2) keep(1 - here);
        __syncthreads();
    }
    c += ((long)tile.x * BM + top + lane / 32 * 4) * n + tile.y * BN + left + lane % 32;
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j)
#pragma unroll
            for (int r = 0; r < 16; ++r) c[(long)(i * 32 + r / 4 * 8 + r % 4) * n + j * 32] = sum[i][j][r];
}
