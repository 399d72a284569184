/*+++
[[launch]]
kernel = "fp8_block_gemm"
grid = ["SPLIT * max(ceil_div(ceil_div(m, 128) * ceil_div(n, BN), SPLIT), ceil_div(m, 128) * ceil_div(n, BN) * (ceil_div(m, 128) * ceil_div(n, BN) * SPLIT <= 132 * BLOCKS))"]
block = ["256"]
lds = "2 * 128 * (128 + BN) + 1024"
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]

[tunables]
BN = [128, 64]              # columns of c a block makes; it makes 128 rows
GROUP = [8, 1, 2, 4, 16]    # tiles down the columns of c before the next column of tiles
BLOCKS = [1, 2]             # blocks a multiprocessor should hold
SPLIT = [1, 2, 4]           # blocks of a cluster: they share a tile's k where 132 multiprocessors have too few tiles

[constraints]
registers = "BLOCKS * BN <= 128"
spans = "SPLIT * 32 <= BN"
+++*/
#include <hip/hip_runtime.h>

typedef unsigned int Words4 __attribute__((ext_vector_type(4)));
typedef float Floats2 __attribute__((ext_vector_type(2)));

// Two groups of four warps multiply 64 x BN each by wgmma, which reads both operands from shared memory: 128 bytes of
// k a row, pieces of 16 bytes exchanged by the row's number (the 128-byte swizzle). Memory has neighbours of m or n
// together, so all threads load words of four rows at 16 k, turn them in registers and store a piece for each row;
// the loads are two blocks of k ahead, the stores one, while the matrix cores work.
constexpr int BM = 128, BK = 128, THREADS = 256;
constexpr int A_BYTES = BM * BK, STAGE_BYTES = (BM + BN) * BK;

__device__ __forceinline__ unsigned short to_bf16(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// What wgmma is told of an operand: address, 1024 bytes from eight rows to the next eight, the 128-byte swizzle.
__device__ __forceinline__ unsigned long long described(unsigned address) {
    return (address & 0x3ffffu) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#if SPLIT > 1
#define CLUSTER __cluster_dims__(SPLIT, 1, 1)
#else
#define CLUSTER
#endif

// All blocks of the cluster arrive, and see what the others wrote.
__device__ __forceinline__ void meet() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// A number in the shared memory of another block of the cluster, at the address it has in ours.
__device__ __forceinline__ float of_block(unsigned address, int rank) {
    float value;
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %1, %2;\nld.shared::cluster.f32 %0, [there];\n}"
                 : "=f"(value) : "r"(address), "r"(rank) : "memory");
    return value;
}

#define EIGHT(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
                    "+f"(d[i + 6]), "+f"(d[i + 7])

// d = a * b or d += a * b over 32 k, asynchronously: a has 64 rows, b BN columns.
__device__ __forceinline__ void multiply(float (&d)[BN / 2], unsigned long long a, unsigned long long b, int add) {
#if BN == 128
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1;\n}"
        : EIGHT(d, 0), EIGHT(d, 8), EIGHT(d, 16), EIGHT(d, 24), EIGHT(d, 32), EIGHT(d, 40), EIGHT(d, 48), EIGHT(d, 56)
        : "l"(a), "l"(b), "r"(add));
#else
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, p, 1, 1;\n}"
        : EIGHT(d, 0), EIGHT(d, 8), EIGHT(d, 16), EIGHT(d, 24)
        : "l"(a), "l"(b), "r"(add));
#endif
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

// What one thread carries of one matrix: four neighbouring rows at 16 k.
struct Piece {
    unsigned word[16];

    __device__ __forceinline__ void load(const unsigned char* from, long pitch) {
#pragma unroll
        for (int i = 0; i < 16; ++i) word[i] = *(const unsigned*)(from + i * pitch);
    }

    // Row 4 l + r of 32 goes to place 8 r + l: eight threads then write to eight different bank groups, and a thread
    // of the product finds eight neighbouring columns in its registers.
    __device__ __forceinline__ void store(unsigned char* tile, int rows, int part) const {
        unsigned turned[4][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) turn(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3], turned[i]);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int row = rows / 8 * 32 + 8 * r + rows % 8;
            *(Words4*)(tile + row * BK + ((part ^ (row & 7)) << 4)) =
                Words4{turned[0][r], turned[1][r], turned[2][r], turned[3][r]};
        }
    }
};

extern "C" __global__ CLUSTER __launch_bounds__(THREADS, BLOCKS) void fp8_block_gemm(
    const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, const float* __restrict__ a_scale,
    const float* __restrict__ b_scale, unsigned short* __restrict__ c, int m, int n, int k) {
    extern __shared__ unsigned char dynamic[];
    unsigned char* shared = dynamic + (-(unsigned)__cvta_generic_to_shared(dynamic) & 1023u);  // the swizzle's period
    const unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    // Tiles in groups down the columns of c, so that blocks running together share rows of both matrices in the L2.
    const int tiles_m = (m + BM - 1) / BM, tiles_n = (n + BN - 1) / BN;
    const bool shares = SPLIT > 1 && gridDim.x >= SPLIT * tiles_m * tiles_n;
    const int tile = shares ? blockIdx.x / SPLIT : blockIdx.x;
    if (tile >= tiles_m * tiles_n) return;  // fills the last cluster
    const int group = tile / (GROUP * tiles_n), first_tile = group * GROUP;
    const int height = min(GROUP, tiles_m - first_tile), within = tile - group * GROUP * tiles_n;
    const int first_i = (first_tile + within % height) * BM, first_j = within / height * BN;

    // The two rows and the columns whose sums this thread holds.
    const int place = warp / 4 * 8 + warp % 4 * 2, g = lane / 4, t = lane % 4;
    const int i = first_i + place / 4 * 32 + 4 * g + place % 4;
    const int rank = shares ? blockIdx.x % SPLIT : 0, scale_rows = (n + 127) / 128;
    const int first_block = shares ? k / BK * rank / SPLIT : 0;
    const int blocks = (shares ? k / BK * (rank + 1) / SPLIT : k / BK) - first_block;
    const float* scales = a_scale + min(i, m - 2) + (long)m * first_block;
    const float* of_columns = b_scale + first_j / 128 + (long)scale_rows * first_block;

    // Rows beyond the matrix are loaded from its last ones: they reach only elements of c that are not stored.
    const int a_rows = threadIdx.x % 32, a_part = threadIdx.x / 32;
    const int b_rows = threadIdx.x % (BN / 4), b_part = threadIdx.x / (BN / 4);
    const bool has_b = threadIdx.x < 2 * BN;
    const unsigned char* of_a = a + min(first_i + 4 * a_rows, m - 4) + (long)m * (16 * a_part + BK * first_block);
    const unsigned char* of_b = b + min(first_j + 4 * b_rows, n - 4) + (long)n * (16 * b_part + BK * first_block);

    Piece next_a, next_b;
    if (blocks > 0) {
        next_a.load(of_a, m);
        if (has_b) next_b.load(of_b, n);
        next_a.store(shared, a_rows, a_part);
        if (has_b) next_b.store(shared + A_BYTES, b_rows, b_part);
    }
    if (blocks > 1) {
        next_a.load(of_a + (long)m * BK, m);
        if (has_b) next_b.load(of_b + (long)n * BK, n);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    float total[BN / 2] = {};
    for (int block = 0; block < blocks; ++block) {
        const unsigned stage = base + block % 2 * STAGE_BYTES;
        const unsigned long long left = described(stage + warp / 4 * (64 * BK)), right = described(stage + A_BYTES);
        float sum[BN / 2];
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < 4; ++step) multiply(sum, left + 2 * step, right + 2 * step, step);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");

        const Floats2 of_rows = *(const Floats2*)(scales + (long)m * block);
        const float of_tile = of_columns[(long)scale_rows * block];
        if (block + 1 < blocks) {
            unsigned char* other = shared + (block + 1) % 2 * STAGE_BYTES;
            next_a.store(other, a_rows, a_part);
            if (has_b) next_b.store(other + A_BYTES, b_rows, b_part);
        }
        if (block + 2 < blocks) {
            next_a.load(of_a + (long)m * BK * (block + 2), m);
            if (has_b) next_b.load(of_b + (long)n * BK * (block + 2), n);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        const float scale[2] = {of_rows[0] * of_tile, of_rows[1] * of_tile};
#pragma unroll
        for (int e = 0; e < BN / 2; ++e) total[e] += sum[e] * scale[e / 2 % 2];
        __syncthreads();
    }

    // Blocks that share a tile add up its spans of 32 columns, each its own, in the order of their ranks.
    if (shares) {
        const unsigned mine = base + 4 * threadIdx.x;
#pragma unroll
        for (int e = 0; e < BN / 2; ++e) ((float*)shared)[e * THREADS + threadIdx.x] = total[e];
        meet();
#pragma unroll
        for (int e = 0; e < BN / 2; ++e) {
            if (e / 16 % SPLIT != rank) continue;
            total[e] = 0.0f;
            for (int other = 0; other < SPLIT; ++other) total[e] += of_block(mine + 4 * e * THREADS, other);
        }
        meet();  // no block ends while another reads from it
    }

    // Registers 4 q to 4 q + 3: two neighbours of the instruction's columns in each of the two rows. The columns are
    // 8 q + 2 t and the next, which are 8 t + r and 8 t + 4 + r of their 32 with r = q % 4.
#pragma unroll
    for (int span = 0; span < BN / 32; ++span) {
        const int j = first_j + 32 * span + 8 * t;
        if (j >= n || (shares && span % SPLIT != rank)) continue;
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            Words4 out;
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                const int at = 4 * (4 * span + 2 * (word % 2)) + 2 * row + word / 2;
                out[word] = to_bf16(total[at]) | (unsigned)to_bf16(total[at + 4]) << 16;
            }
            if (i + row < m) *(Words4*)(c + (long)(i + row) * n + j) = out;
        }
    }
}
