/*+++
[[launch]]
kernel = "fp8_block_gemm"
grid = ["ceil_div(m, BM) * ceil_div(n, BN)"]
block = ["BM * BN // 64"]
lds = "STAGES * (128 * (BM + max(BN, 128)) + 4 * BM)"
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]

[tunables]
BM = [128, 256]         # rows of c a block makes
BN = [128, 64]          # columns
STAGES = [3, 2, 4]      # blocks of 128 along k that are on their way or in use
GROUP = [8, 1, 4, 16]   # tiles down the columns of c before the next column of tiles

[constraints]
registers = "BM * BN <= 16384"
shared = "STAGES * (128 * (BM + max(BN, 128)) + 4 * BM) <= 232448"
+++*/
#include <hip/hip_runtime.h>

typedef unsigned int Words2 __attribute__((ext_vector_type(2)));
typedef unsigned int Words4 __attribute__((ext_vector_type(4)));
typedef float Floats4 __attribute__((ext_vector_type(4)));

// Every warp makes 64 x 32 of c by m16n8k32. The instruction wants four neighbours of k in a register, memory has
// neighbours of m or n: a lane reads words of four k and turns 4 x 4 bytes. Which rows of the tile form one
// instruction's 16 is free, so a lane takes the 8 rows (and 4 columns) that lie together in its words.
constexpr int BK = 128;
constexpr int THREADS = BM * BN / 64;
constexpr int B_PITCH = BN < 128 ? 128 : BN;  // bytes of one k in shared memory: all banks, for the swizzle
constexpr int A_BYTES = BK * BM, B_BYTES = BK * B_PITCH;
constexpr int STAGE_BYTES = A_BYTES + B_BYTES + 4 * BM;

__device__ __forceinline__ unsigned short to_bf16(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// 16 bytes into shared memory behind the back of the warp; zeros where the source lies outside the matrix.
__device__ __forceinline__ void copy_async(unsigned to, const void* from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

// The matrix instruction: d += a * b with a 16 x 32, b 32 x 8.
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Byte r of the four words becomes out[r].
__device__ __forceinline__ void turn(unsigned w0, unsigned w1, unsigned w2, unsigned w3, unsigned (&out)[4]) {
    const unsigned low01 = __byte_perm(w0, w1, 0x5140), high01 = __byte_perm(w0, w1, 0x7362);
    const unsigned low23 = __byte_perm(w2, w3, 0x5140), high23 = __byte_perm(w2, w3, 0x7362);
    out[0] = __byte_perm(low01, low23, 0x5410);
    out[1] = __byte_perm(low01, low23, 0x7632);
    out[2] = __byte_perm(high01, high23, 0x5410);
    out[3] = __byte_perm(high01, high23, 0x7632);
}

// Where byte x of one k lies: pieces of 16 bytes change places so that the four k a warp reads at once, 4 apart, meet
// different banks.
__device__ __forceinline__ int place(int kk, int x, int pitch) { return kk * pitch + (x ^ ((kk >> 2 & 3) << 5)); }

// Start the copies of one block of 128 k: rows of one matrix, 16 at a time.
template <int WIDTH, int PITCH>
__device__ __forceinline__ void fetch(const unsigned char* matrix, int first, int extent, int start, unsigned to) {
    for (int unit = threadIdx.x; unit < BK * (WIDTH / 16); unit += THREADS) {
        const int kk = unit / (WIDTH / 16), x = unit % (WIDTH / 16) * 16;
        const bool inside = first + x < extent;
        copy_async(to + place(kk, x, PITCH), matrix + (inside ? first + x : 0) + (long)extent * (start + kk), inside);
    }
}

extern "C" __global__ __launch_bounds__(THREADS) void fp8_block_gemm(
    const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, const float* __restrict__ a_scale,
    const float* __restrict__ b_scale, unsigned short* __restrict__ c, int m, int n, int k) {
    extern __shared__ __attribute__((aligned(128))) unsigned char shared[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int g = lane / 4, t = lane % 4;  // group and place in it, as the instruction's registers are told

    // Tiles in groups down the columns of c, so that blocks running together share rows of both matrices in the L2.
    const int tiles_m = (m + BM - 1) / BM, tiles_n = (n + BN - 1) / BN;
    const int group = blockIdx.x / (GROUP * tiles_n), first_tile = group * GROUP;
    const int height = min(GROUP, tiles_m - first_tile), within = blockIdx.x - group * GROUP * tiles_n;
    const int first_i = (first_tile + within % height) * BM, first_j = within / height * BN;
    const int warp_i = warp / (BN / 32) * 64, warp_j = warp % (BN / 32) * 32;

    const int blocks = k / BK, scale_rows = (n + 127) / 128;
    const float* of_b = b_scale + min(first_j + warp_j, n - 1) / 128;

    auto start = [&](int block) {
        const unsigned to = base + block % STAGES * STAGE_BYTES;
        if (block < blocks) {
            fetch<BM, BM>(a, first_i, m, block * BK, to);
            fetch<BN, B_PITCH>(b, first_j, n, block * BK, to + A_BYTES);
            for (int x = 4 * threadIdx.x; x < BM; x += 4 * THREADS) {
                const bool inside = first_i + x < m;
                const float* from = a_scale + (inside ? first_i + x : 0) + (long)m * block;
                copy_async(to + A_BYTES + B_BYTES + 4 * x, from, inside);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float total[4][4][4] = {};
    for (int block = 0; block < STAGES - 1; ++block) start(block);

    for (int block = 0; block < blocks; ++block) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();  // this block has arrived for all, and all are done with the one before
        start(block + STAGES - 1);
        const unsigned char* of_stage = shared + block % STAGES * STAGE_BYTES;
        const unsigned char* a_tile = of_stage;
        const unsigned char* b_tile = of_stage + A_BYTES;
        const float b_value = of_b[(long)scale_rows * block];

        float sum[4][4][4] = {};
#pragma unroll
        for (int step = 0; step < BK; step += 32) {
            unsigned of_a[4][4], b_words[2][4];
#pragma unroll
            for (int half = 0; half < 2; ++half) {  // k 0 to 15 of the instruction, then 16 to 31
                Words2 rows[4];
                unsigned columns[4], low[4], high[4];
                const int kk = step + 16 * half + 4 * t;
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    rows[i] = *(const Words2*)(a_tile + place(kk + i, warp_i + 8 * g, BM));
                    columns[i] = *(const unsigned*)(b_tile + place(kk + i, warp_j + 4 * g, B_PITCH));
                }
                turn(rows[0][0], rows[1][0], rows[2][0], rows[3][0], low);
                turn(rows[0][1], rows[1][1], rows[2][1], rows[3][1], high);
                turn(columns[0], columns[1], columns[2], columns[3], b_words[half]);
#pragma unroll
                for (int r = 0; r < 2; ++r) {  // the instruction's rows g and g + 8 are 8 g + 2 p and its neighbour
                    of_a[0][2 * half + r] = low[r];
                    of_a[1][2 * half + r] = low[2 + r];
                    of_a[2][2 * half + r] = high[r];
                    of_a[3][2 * half + r] = high[2 + r];
                }
            }
#pragma unroll
            for (int p = 0; p < 4; ++p)
#pragma unroll
                for (int q = 0; q < 4; ++q) multiply(sum[p][q], of_a[p], b_words[0][q], b_words[1][q]);
        }
        const Floats4* scales = (const Floats4*)(of_stage + A_BYTES + B_BYTES) + (warp_i + 8 * g) / 4;
        const Floats4 lower = scales[0], upper = scales[1];
#pragma unroll
        for (int p = 0; p < 4; ++p)
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const int row = 2 * p + r;
                const float scale = (row < 4 ? lower[row & 3] : upper[row & 3]) * b_value;
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    total[p][q][2 * r] += sum[p][q][2 * r] * scale;
                    total[p][q][2 * r + 1] += sum[p][q][2 * r + 1] * scale;
                }
            }
    }

    // A lane holds 8 rows of 8 neighbouring columns: the instruction's columns 2 t and 2 t + 1 of tile q are 8 t + q
    // and 8 t + 4 + q.
    const int j = first_j + warp_j + 8 * t;
#pragma unroll
    for (int row = 0; row < 8; ++row) {
        const int i = first_i + warp_i + 8 * g + row, p = row / 2, r = row % 2;
        if (i >= m || j >= n) continue;
        Words4 out;
#pragma unroll
        for (int word = 0; word < 4; ++word) {
            const int q = 2 * (word % 2), e = 2 * r + word / 2;
            out[word] = to_bf16(total[p][q][e]) | (unsigned)to_bf16(total[p][q + 1][e]) << 16;
        }
        *(Words4*)(c + (long)i * n + j) = out;
    }
}
