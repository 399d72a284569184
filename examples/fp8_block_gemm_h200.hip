/*+++
[[launch]]
kernel = "pack"
grid = ["k // 128 * (ceil_div(m, 128) + ceil_div(n, 128))"]
block = [256]
args = ["a", "b", "turned_a", "turned_b", "m", "n"]

[[launch]]
kernel = "fp8_block_gemm"
grid = ["SPLIT * max(ceil_div(m, 128) * ceil_div(n, BN) * (ceil_div(m, 128) * ceil_div(n, BN) * SPLIT <= 132), ceil_div(min(ceil_div(m, 128) * ceil_div(n, BN), 132 - 4 * (SPLIT > 2)), SPLIT))"]
block = [384]
lds = "STAGES * 128 * (128 + BN) + 1024"
args = ["turned_a", "turned_b", "a_scale", "b_scale", "c", "m", "n", "k"]

[workspace]
turned_a = ["i8", "k", "m"]
turned_b = ["i8", "k", "n"]

[tunables]
BN = [128, 192, 64]         # columns of c a block makes; it makes 128 rows
STAGES = [6, 5, 4, 7, 3, 8] # blocks of k under way
GROUP = [8, 4, 16, 2]       # tiles down the columns of c before the next column of tiles
SPLIT = [2, 1, 4]           # blocks of a cluster: they share a tile's k where 132 multiprocessors have too few tiles

[constraints]
fits = "STAGES * (128 + BN) <= 1792"
room = "BN * 4 <= STAGES * (128 + BN)"
spans = "SPLIT * 32 <= BN"
+++*/
#include <hip/hip_runtime.h>

typedef unsigned int Words4 __attribute__((ext_vector_type(4)));
typedef float Floats2 __attribute__((ext_vector_type(2)));

// Memory has neighbours of m or n together, wgmma wants neighbours of k: a first launch turns both matrices once, into
// the very bytes that a stage of the product holds (rows of 128 k, pieces of 16 bytes exchanged by the row's number),
// for all rows of one block of k after another. The product's blocks stay for many tiles; one thread of each copies
// the rows of a stage in two pieces, as far ahead as there are stages, while two groups of four warps multiply.
constexpr int BM = 128, BK = 128, CONSUMERS = 256, THREADS = 384;
constexpr int A_BYTES = BM * BK, STAGE_BYTES = (BM + BN) * BK;

// Byte r of the four words becomes out[r].
__device__ __forceinline__ void turn(unsigned w0, unsigned w1, unsigned w2, unsigned w3, unsigned (&out)[4]) {
    const unsigned low01 = __byte_perm(w0, w1, 0x5140), high01 = __byte_perm(w0, w1, 0x7362);
    const unsigned low23 = __byte_perm(w2, w3, 0x5140), high23 = __byte_perm(w2, w3, 0x7362);
    out[0] = __byte_perm(low01, low23, 0x5410);
    out[1] = __byte_perm(low01, low23, 0x7632);
    out[2] = __byte_perm(high01, high23, 0x5410);
    out[3] = __byte_perm(high01, high23, 0x7632);
}

// A block turns 128 rows by 128 k of one matrix; each thread four rows at 16 k. Row 4 l + r of 32 goes to place
// 8 r + l: eight threads then write to different bank groups, and a thread of the product holds eight neighbouring
// columns of c.
extern "C" __global__ __launch_bounds__(256) void pack(
    const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, unsigned char* __restrict__ turned_a,
    unsigned char* __restrict__ turned_b, int m, int n) {
    __shared__ Words4 tile[BM * BK / 16];
    const int tiles_m = (m + 127) / 128, tiles = tiles_m + (n + 127) / 128;
    const int block = blockIdx.x / tiles, within = blockIdx.x % tiles;
    const bool of_a = within < tiles_m;
    const unsigned char* from = of_a ? a : b;
    const int height = of_a ? m : n, first = (of_a ? within : within - tiles_m) * 128;
    const int rows = threadIdx.x % 32, part = threadIdx.x / 32;

    from += min(first + 4 * rows, height - 4) + (long)height * (16 * part + BK * block);
    unsigned word[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) word[i] = *(const unsigned*)(from + (long)i * height);
    unsigned turned[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) turn(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3], turned[i]);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        const int row = rows / 8 * 32 + 8 * r + rows % 8;
        tile[row * 8 + (part ^ (row & 7))] = Words4{turned[0][r], turned[1][r], turned[2][r], turned[3][r]};
    }
    __syncthreads();

    Words4* to = (Words4*)((of_a ? turned_a : turned_b) + ((long)height * block + first) * BK);
    const int pieces = min(height - first, 128) * 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int piece = threadIdx.x + 256 * i;
        if (piece < pieces) to[piece] = tile[piece];
    }
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

// All threads of the cluster arrive, and see what the others wrote.
__device__ __forceinline__ void meet() {
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

// A number in the shared memory of another block of the cluster, at the address it has in ours.
__device__ __forceinline__ float of_block(unsigned address, int rank) {
    float value;
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %1, %2;\nld.shared::cluster.f32 %0, [there];\n}"
                 : "=f"(value) : "r"(address), "r"(rank) : "memory");
    return value;
}

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
    unsigned done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

// The barrier opens when so many bytes have come.
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void copy(unsigned to, const void* from, int bytes, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

__device__ __forceinline__ unsigned narrow2(float first, float second) {  // to nearest, ties to even
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    return word;
}

#define EIGHT(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
                    "+f"(d[i + 6]), "+f"(d[i + 7])

// d = a * b or d += a * b over 32 k, asynchronously: a has 64 rows, b BN columns.
__device__ __forceinline__ void multiply(float (&d)[BN / 2], unsigned long long a, unsigned long long b, int add) {
#if BN == 192
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
        "%96, %97, p, 1, 1;\n}"
        : EIGHT(d, 0), EIGHT(d, 8), EIGHT(d, 16), EIGHT(d, 24), EIGHT(d, 32), EIGHT(d, 40), EIGHT(d, 48),
          EIGHT(d, 56), EIGHT(d, 64), EIGHT(d, 72), EIGHT(d, 80), EIGHT(d, 88)
        : "l"(a), "l"(b), "r"(add));
#elif BN == 128
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1;\n}"
        : EIGHT(d, 0), EIGHT(d, 8), EIGHT(d, 16), EIGHT(d, 24), EIGHT(d, 32), EIGHT(d, 40), EIGHT(d, 48),
          EIGHT(d, 56)
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

// Tiles in groups down the columns of c, so that blocks running together share rows of both matrices in the L2.
struct Tile {
    int first_i, first_j;
    __device__ __forceinline__ Tile(int tile, int tiles_m, int tiles_n) {
        const int group = tile / (GROUP * tiles_n), first_tile = group * GROUP;
        const int height = min(GROUP, tiles_m - first_tile), within = tile - group * GROUP * tiles_n;
        first_i = (first_tile + within % height) * BM;
        first_j = within / height * BN;
    }
};

extern "C" __global__ CLUSTER __launch_bounds__(THREADS, 1) void fp8_block_gemm(
    const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, const float* __restrict__ a_scale,
    const float* __restrict__ b_scale, unsigned short* __restrict__ c, int m, int n, int k) {
    extern __shared__ unsigned char dynamic[];
    __shared__ unsigned long long barriers[2 * STAGES];  // of each stage: filled, and free again
    unsigned char* shared = dynamic + (-(unsigned)__cvta_generic_to_shared(dynamic) & 1023u);  // the swizzle's period
    const unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    const unsigned filled = (unsigned)__cvta_generic_to_shared(barriers), freed = filled + 8 * STAGES;

    const int tiles_m = (m + BM - 1) / BM, tiles_n = (n + BN - 1) / BN, tiles = tiles_m * tiles_n;
    const bool shares = SPLIT > 1 && tiles * SPLIT <= 132;
    const int rank = shares ? blockIdx.x % SPLIT : 0;
    const int first_block = shares ? k / BK * rank / SPLIT : 0;
    const int last_block = shares ? k / BK * (rank + 1) / SPLIT : k / BK;
    const int first_tile = shares ? blockIdx.x / SPLIT : blockIdx.x, stride = shares ? tiles : gridDim.x;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(filled + 8 * s) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :: "r"(freed + 8 * s) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();

    int stage = 0;
    unsigned parity = 0;
    if (threadIdx.x >= CONSUMERS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == CONSUMERS) {
            for (int number = first_tile; number < tiles; number += stride) {
                const Tile tile(number, tiles_m, tiles_n);
                const int a_bytes = min(BM, m - tile.first_i) * BK, b_bytes = min(BN, n - tile.first_j) * BK;
                for (int block = first_block; block < last_block; ++block) {
                    wait(freed + 8 * stage, parity ^ 1);
                    expect(filled + 8 * stage, a_bytes + b_bytes);
                    const unsigned to = base + stage * STAGE_BYTES;
                    copy(to, a + ((long)m * block + tile.first_i) * BK, a_bytes, filled + 8 * stage);
                    copy(to + A_BYTES, b + ((long)n * block + tile.first_j) * BK, b_bytes, filled + 8 * stage);
                    if (++stage == STAGES) stage = 0, parity ^= 1;
                }
            }
        }
        __syncwarp();
        if (shares) {
            meet();
            meet();
        }
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int place = warp / 4 * 8 + warp % 4 * 2, scale_rows = (n + 127) / 128;
    for (int number = first_tile; number < tiles; number += stride) {
        const Tile tile(number, tiles_m, tiles_n);
        // The two rows and the columns whose sums this thread holds; 64 columns have one scale.
        const int i = tile.first_i + place / 4 * 32 + 4 * g + place % 4;
        const float* of_rows = a_scale + min(i, m - 2);
        const float* of_columns = b_scale + tile.first_j / 128;
        const int beside = tile.first_j / 128 + 1 < scale_rows ? 1 : 0;
        const bool odd = BN == 192 && tile.first_j % 128 != 0;

        Floats2 next_rows = {0.0f, 0.0f};
        float next_column = 0.0f, next_beside = 0.0f;
        if (first_block < last_block) {
            next_rows = *(const Floats2*)(of_rows + (long)m * first_block);
            next_column = of_columns[(long)scale_rows * first_block];
            if (BN == 192) next_beside = of_columns[(long)scale_rows * first_block + beside];
        }
        float total[BN / 2] = {};
        for (int block = first_block; block < last_block; ++block) {
            wait(filled + 8 * stage, parity);
            const unsigned at = base + stage * STAGE_BYTES;
            const unsigned long long left = described(at + warp / 4 * (64 * BK)), right = described(at + A_BYTES);
            float sum[BN / 2];
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int step = 0; step < 4; ++step) multiply(sum, left + 2 * step, right + 2 * step, step);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");

            const Floats2 rows = next_rows;
            const float column = next_column, column_beside = next_beside;
            if (block + 1 < last_block) {
                next_rows = *(const Floats2*)(of_rows + (long)m * (block + 1));
                next_column = of_columns[(long)scale_rows * (block + 1)];
                if (BN == 192) next_beside = of_columns[(long)scale_rows * (block + 1) + beside];
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (lane == 0) arrive(freed + 8 * stage);
            if (++stage == STAGES) stage = 0, parity ^= 1;

            const float middle = odd ? column_beside : column;
#pragma unroll
            for (int e = 0; e < BN / 2; ++e) {
                const float of_column = e < 32 ? column : e < 64 ? middle : column_beside;
                total[e] += sum[e] * (rows[e / 2 % 2] * of_column);
            }
        }

        // Blocks that share a tile add up its spans of 32 columns, each its own, in the order of their ranks.
        if (shares) {
            asm volatile("bar.sync 1, 256;" ::: "memory");  // the stages are read
            const unsigned mine = base + 4 * threadIdx.x;
#pragma unroll
            for (int e = 0; e < BN / 2; ++e) ((float*)shared)[e * CONSUMERS + threadIdx.x] = total[e];
            meet();
#pragma unroll
            for (int e = 0; e < BN / 2; ++e) {
                if (e / 16 % SPLIT != rank) continue;
                total[e] = 0.0f;
                for (int other = 0; other < SPLIT; ++other) total[e] += of_block(mine + 4 * e * CONSUMERS, other);
            }
            meet();  // no block ends while another reads from it
        }

        // Registers 4 q to 4 q + 3: two neighbours of the instruction's columns in each of the two rows. The columns
        // are 8 q + 2 t and the next, which are 8 t + r and 8 t + 4 + r of their 32 with r = q % 4.
#pragma unroll
        for (int span = 0; span < BN / 32; ++span) {
            const int j = tile.first_j + 32 * span + 8 * t;
            if (j >= n || (shares && span % SPLIT != rank)) continue;
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                Words4 out;
#pragma unroll
                for (int word = 0; word < 4; ++word) {
                    const int at = 4 * (4 * span + 2 * (word % 2)) + 2 * row + word / 2;
                    out[word] = narrow2(total[at], total[at + 4]);
                }
                if (i + row < m) *(Words4*)(c + (long)(i + row) * n + j) = out;
            }
        }
    }
}
