/*+++
[[launch]]
kernel = "gemm_tile"
grid = ["ceil_div(n, BN) * ceil_div(m, BM)", "min(ceil_div(k, 512), max(1, FILL // (ceil_div(m, BM) * ceil_div(n, BN))))"]
block = ["BM * BN // 64"]
args = ["a", "b", "a_scale", "b_scale", "c", "partial", "m", "n", "k"]

[[launch]]
kernel = "add_splits"
grid = ["ceil_div(m * n, 2048)", "min(ceil_div(k, 512), max(1, FILL // (ceil_div(m, BM) * ceil_div(n, BN))))"]
block = [256]
args = ["partial", "c", "m", "n"]

[workspace]
partial = ["f32", "min(ceil_div(k, 512), max(1, FILL // (ceil_div(m, BM) * ceil_div(n, BN))))", "m", "n"]

[tunables]
BM = [128, 64, 256]
BN = [128, 64]
FILL = [608, 304, 912]

[constraints]
threads = "BM * BN <= 32768"
+++*/
#include <hip/hip_runtime.h>

// One workgroup makes a BM x BN tile of c over a share of K; every wave owns 64 x 64 of it.
// Operands are swapped (rows of the instruction are n, columns are m), so a lane holds one row m of c:
// its scale is one number, and four accumulators in a row are four neighbours in memory.
typedef float floatx16 __attribute__((ext_vector_type(16)));
typedef unsigned uintx2 __attribute__((ext_vector_type(2)));
typedef unsigned uintx4 __attribute__((ext_vector_type(4)));
typedef float floatx4 __attribute__((ext_vector_type(4)));

// Four words of four bytes, transposed: out[i] holds byte i of every word.
__device__ __forceinline__ void transpose4(unsigned r0, unsigned r1, unsigned r2, unsigned r3, unsigned* out) {
    unsigned t0 = __builtin_amdgcn_perm(r1, r0, 0x05010400u), t1 = __builtin_amdgcn_perm(r1, r0, 0x07030602u);
    unsigned t2 = __builtin_amdgcn_perm(r3, r2, 0x05010400u), t3 = __builtin_amdgcn_perm(r3, r2, 0x07030602u);
    out[0] = __builtin_amdgcn_perm(t2, t0, 0x05040100u);
    out[1] = __builtin_amdgcn_perm(t2, t0, 0x07060302u);
    out[2] = __builtin_amdgcn_perm(t3, t1, 0x05040100u);
    out[3] = __builtin_amdgcn_perm(t3, t1, 0x07060302u);
}

struct Panel {  // what one thread fetches of one operand: 8 rows x 8 k
    uintx2 word[8];

    __device__ __forceinline__ void fetch(const unsigned char* p, long stride) {
#pragma unroll
        for (int i = 0; i < 8; ++i) word[i] = *(const uintx2*)(p + i * stride);
    }

    // 16 bytes (two rows of 8 k) at a time; the slot is swizzled so that eight lanes meet eight bank groups.
    __device__ __forceinline__ void put(uintx4* lds, int group, int turn) const {
        unsigned lo[8], hi[8];
        transpose4(word[0].x, word[1].x, word[2].x, word[3].x, lo);
        transpose4(word[0].y, word[1].y, word[2].y, word[3].y, lo + 4);
        transpose4(word[4].x, word[5].x, word[6].x, word[7].x, hi);
        transpose4(word[4].y, word[5].y, word[6].y, word[7].y, hi + 4);
#pragma unroll
        for (int s = 0; s < 4; ++s)
            lds[(group * 4 + s) ^ turn] = uintx4{lo[2 * s], hi[2 * s], lo[2 * s + 1], hi[2 * s + 1]};
    }
};

__device__ __forceinline__ unsigned bf16(float x) {
    unsigned u = __builtin_bit_cast(unsigned, x);
    return (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
}

constexpr int THREADS = BM * BN / 64;
constexpr int A_UNITS = BM * 2, B_UNITS = BN * 2;  // pieces of 8 rows x 8 k in a panel of 128 k
constexpr int A_EACH = (A_UNITS + THREADS - 1) / THREADS, B_EACH = (B_UNITS + THREADS - 1) / THREADS;
constexpr int LDS_SLOTS = (BM + BN) * 8;  // of 16 bytes

// The slot of 8 bytes that holds row x of one group of 8 k; see Panel::put for the swizzle.
__device__ __forceinline__ int place(int x) { return (((x >> 1) ^ ((x >> 4) & 3)) << 1) | (x & 1); }

extern "C" __global__ void __launch_bounds__(THREADS, 2)
gemm_tile(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, const float* __restrict__ a_scale,
          const float* __restrict__ b_scale, unsigned short* __restrict__ c, float* __restrict__ partial,
          int m, int n, int k) {
    __shared__ uintx4 lds[LDS_SLOTS];
    uintx4* lds_a = lds;           // [k / 8][row pair]
    uintx4* lds_b = lds + BM * 8;
    const int tid = threadIdx.x, lane = tid & 63, wave = tid >> 6;

    // Workgroups go round the 8 chiplets: give each chiplet a run of neighbouring tiles, down the columns of c.
    const int tiles = gridDim.x, per = tiles >> 3, id = blockIdx.x;
    const int tile = id < per * 8 ? (id & 7) * per + (id >> 3) : id;
    const int down = (m + BM - 1) / BM;
    const int m0 = tile % down * BM, n0 = tile / down * BN;

    const int blocks = k >> 7, share = (blocks + gridDim.y - 1) / gridDim.y;
    const int first = blockIdx.y * share, last = min(blocks, first + share);
    const int wm = wave % (BM / 64) * 64, wn = wave / (BM / 64) * 64, col = lane & 31, half = lane >> 5;
    const int nb = (n + 127) >> 7;
    const int row[2] = {min(m0 + wm + col, m - 1), min(m0 + wm + 32 + col, m - 1)};

    const unsigned char* pa[A_EACH];
    const unsigned char* pb[B_EACH];
#pragma unroll
    for (int u = 0; u < A_EACH; ++u) {
        const int unit = tid + u * THREADS;
        pa[u] = a + min(m0 + unit % (BM / 8) * 8, m - 8) + (long)(first * 128 + min(unit / (BM / 8), 15) * 8) * m;
    }
#pragma unroll
    for (int u = 0; u < B_EACH; ++u) {
        const int unit = tid + u * THREADS;
        pb[u] = b + min(n0 + unit % (BN / 8) * 8, n - 8) + (long)(first * 128 + min(unit / (BN / 8), 15) * 8) * n;
    }
    // The swizzle depends on the row, so the two tiles of a wave are not a constant apart.
    const int read_m[2] = {place(wm + col) + half * BM, place(wm + 32 + col) + half * BM};
    const int read_n[2] = {place(wn + col) + half * BN, place(wn + 32 + col) + half * BN};

    floatx16 total[2][2] = {};
    Panel fa[A_EACH], fb[B_EACH];
    auto fetch = [&]() {
#pragma unroll
        for (int u = 0; u < A_EACH; ++u)
            if (A_UNITS % THREADS == 0 || tid + u * THREADS < A_UNITS) fa[u].fetch(pa[u], m);
#pragma unroll
        for (int u = 0; u < B_EACH; ++u)
            if (B_UNITS % THREADS == 0 || tid + u * THREADS < B_UNITS) fb[u].fetch(pb[u], n);
    };
    if (first < last) fetch();
    for (int kb = first; kb < last; ++kb) {
        __syncthreads();
#pragma unroll
        for (int u = 0; u < A_EACH; ++u) {
            const int unit = tid + u * THREADS, group = unit % (BM / 8);
            if (A_UNITS % THREADS == 0 || unit < A_UNITS)
                fa[u].put(lds_a + unit / (BM / 8) * (BM / 2), group, (group >> 1) & 3);
        }
#pragma unroll
        for (int u = 0; u < B_EACH; ++u) {
            const int unit = tid + u * THREADS, group = unit % (BN / 8);
            if (B_UNITS % THREADS == 0 || unit < B_UNITS)
                fb[u].put(lds_b + unit / (BN / 8) * (BN / 2), group, (group >> 1) & 3);
        }
        const float bs = b_scale[(n0 >> 7) + nb * kb];
        const float scale[2] = {a_scale[row[0] + (long)m * kb] * bs, a_scale[row[1] + (long)m * kb] * bs};
        __syncthreads();
        if (kb + 1 < last) {
#pragma unroll
            for (int u = 0; u < A_EACH; ++u) pa[u] += 128L * m;
#pragma unroll
            for (int u = 0; u < B_EACH; ++u) pb[u] += 128L * n;
            fetch();
        }
        floatx16 sum[2][2] = {};
#pragma unroll
        for (int step = 0; step < 8; ++step) {
            long va[2], vb[2];
#pragma unroll
            for (int t = 0; t < 2; ++t) {
                va[t] = ((const long*)lds_a)[step * 2 * BM + read_m[t]];
                vb[t] = ((const long*)lds_b)[step * 2 * BN + read_n[t]];
            }
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 2; ++j)
                    sum[i][j] = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(vb[i], va[j], sum[i][j], 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j) total[i][j] += sum[i][j] * scale[j];
    }

    if (gridDim.y > 1) {  // add_splits rounds the sum
#pragma unroll
        for (int j = 0; j < 2; ++j)
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    const int r = m0 + wm + j * 32 + col, s = n0 + wn + i * 32 + q * 8 + half * 4;
                    const floatx16 t = total[i][j];
                    if (r < m && s < n)
                        *(floatx4*)(partial + ((long)blockIdx.y * m + r) * n + s) =
                            floatx4{t[q * 4], t[q * 4 + 1], t[q * 4 + 2], t[q * 4 + 3]};
                }
        return;
    }
    // Each wave turns its 64 x 64 through its own 8 KiB of LDS, half of it at a time, and writes rows of 64 bytes.
    __syncthreads();
    uintx4* mine = lds + wave * 128;  // 32 rows of 4 slots
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const floatx16 t = total[i][j];
#pragma unroll
            for (int q = 0; q < 4; ++q)
                ((uintx2*)mine)[col * 8 + ((q ^ ((col >> 1) & 3)) << 1) + half] =
                    uintx2{bf16(t[q * 4]) | bf16(t[q * 4 + 1]) << 16, bf16(t[q * 4 + 2]) | bf16(t[q * 4 + 3]) << 16};
            __syncthreads();
#pragma unroll
            for (int p = 0; p < 2; ++p) {
                const int y = p * 16 + (lane >> 2), x = lane & 3;
                const int r = m0 + wm + j * 32 + y, s = n0 + wn + i * 32 + x * 8;
                if (r < m && s < n) *(uintx4*)(c + (long)r * n + s) = mine[y * 4 + (x ^ ((y >> 1) & 3))];
            }
            __syncthreads();
        }
}

extern "C" __global__ void __launch_bounds__(256)
add_splits(const float* __restrict__ partial, unsigned short* __restrict__ c, int m, int n) {
    if (gridDim.y == 1 || blockIdx.y) return;
    const long size = (long)m * n, at = ((long)blockIdx.x * 256 + threadIdx.x) * 8;
    if (at >= size) return;
    floatx4 lo = {}, hi = {};
    for (unsigned z = 0; z < gridDim.y; ++z) {
        lo += *(const floatx4*)(partial + z * size + at);
        hi += *(const floatx4*)(partial + z * size + at + 4);
    }
    uintx4 w = {bf16(lo.x) | bf16(lo.y) << 16, bf16(lo.z) | bf16(lo.w) << 16,
                bf16(hi.x) | bf16(hi.y) << 16, bf16(hi.z) | bf16(hi.w) << 16};
    *(uintx4*)(c + at) = w;
}
