/*+++
[[launch]]
kernel = "fp8_block_gemm"
grid = ["ceil_div(n, 128 - 64 * (ceil_div(m, 128) * ceil_div(n, 64) <= UNITS))",
        "ceil_div(m, 128 - 64 * (ceil_div(m, 64) * ceil_div(n, 64) <= UNITS))"]
block = ["256 + 256 * (ceil_div(m, 128) * ceil_div(n, 128) <= UNITS)"]
lds = "32768 + 32768 * (ceil_div(m, 128) * ceil_div(n, 128) <= UNITS)"
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]

[tunables]
UNITS = [304, 152, 608]
+++*/
#include <hip/hip_runtime.h>

// The tile follows the shape of c: 64 x 64, 128 x 64 or 128 x 128 with eight waves as long as the UNITS of the chip are
// not all busy, else 128 x 128 with four, two workgroups a unit. A wave always owns 64 x 64; where there are more waves
// than that takes, they share K inside the workgroup, so no second launch is needed to add the parts. All of it is one
// piece of code, because four would not stay in the instruction cache.
// Operands are swapped (rows of the instruction are n, columns are m), so a lane holds one row m of c: its scale is
// one number, and four accumulators in a row are four neighbours in memory.
typedef float floatx16 __attribute__((ext_vector_type(16)));
typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef unsigned uintx2 __attribute__((ext_vector_type(2)));
typedef unsigned uintx4 __attribute__((ext_vector_type(4)));
typedef long longx2 __attribute__((ext_vector_type(2)));

extern __shared__ uintx4 lds[];

// Four words of four bytes, transposed: out[i] holds byte i of every word.
__device__ __forceinline__ void transpose4(unsigned r0, unsigned r1, unsigned r2, unsigned r3, unsigned* out) {
    const unsigned t0 = __builtin_amdgcn_perm(r1, r0, 0x05010400u), t1 = __builtin_amdgcn_perm(r1, r0, 0x07030602u);
    const unsigned t2 = __builtin_amdgcn_perm(r3, r2, 0x05010400u), t3 = __builtin_amdgcn_perm(r3, r2, 0x07030602u);
    out[0] = __builtin_amdgcn_perm(t2, t0, 0x05040100u);
    out[1] = __builtin_amdgcn_perm(t2, t0, 0x07060302u);
    out[2] = __builtin_amdgcn_perm(t3, t1, 0x05040100u);
    out[3] = __builtin_amdgcn_perm(t3, t1, 0x07060302u);
}

// Two floats rounded to bfloat16, to nearest even, in one word.
__device__ __forceinline__ unsigned bf16x2(float low, float high) {
    const unsigned u = __builtin_bit_cast(unsigned, low), v = __builtin_bit_cast(unsigned, high);
    return __builtin_amdgcn_perm(v + 0x7fffu + ((v >> 16) & 1u), u + 0x7fffu + ((u >> 16) & 1u), 0x07060302u);
}

// In LDS a panel is [k / 16][row][16 bytes]. Sixteen rows are turned round among themselves, so that neither the
// transposed stores nor the 16-byte reads meet in a bank.
__device__ __forceinline__ int swizzle(int group, int k16, int log_rows) { return (group + (k16 << (log_rows - 4))) & 7; }

__device__ __forceinline__ int place(int row, int k16, int log_rows) {
    return (k16 << log_rows) + (row & ~15) + ((row & 15) ^ swizzle(row >> 4, k16, log_rows));
}

extern "C" __global__ void __launch_bounds__(512, 2)
fp8_block_gemm(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
               const float* __restrict__ a_scale, const float* __restrict__ b_scale, unsigned short* __restrict__ c,
               int m, int n, int k) {
    const int log_bm = ((m + 63) >> 6) * ((n + 63) >> 6) <= UNITS ? 6 : 7;
    const int log_bn = ((m + 127) >> 7) * ((n + 63) >> 6) <= UNITS ? 6 : 7;
    const int log_spots = log_bm + log_bn - 12, shares = blockDim.x >> (6 + log_spots);
    const bool is_long = shares <= 2;  // 128 k a wave and step, else 64: a block of scales or half of one
    const int wave_k = is_long ? 128 : 64, step_k = wave_k * shares;
    uintx4* const lds_a = lds;
    uintx4* const lds_b = lds + (step_k << log_bm >> 4);
    const int tid = threadIdx.x, lane = tid & 63, wave = tid >> 6;

    // Workgroups go round the 8 chiplets: give each chiplet a run of neighbouring tiles, down the columns of c.
    const int down = gridDim.y, tiles = down * gridDim.x, per = tiles >> 3, id = blockIdx.y * gridDim.x + blockIdx.x;
    const int turn = id < per * 8 ? (id & 7) * per + (id >> 3) : id;
    const int m0 = turn % down << log_bm, n0 = turn / down << log_bn;

    // One piece of 16 rows x 8 k a thread: first those of a, then those of b.
    const int a_units = step_k << log_bm >> 7, b_units = step_k << log_bn >> 7;
    const bool of_a = tid < a_units, fetches = tid < a_units + b_units;
    const int unit = of_a ? tid : tid - a_units, log_rows = of_a ? log_bm : log_bn;
    const int group = unit & ((1 << (log_rows - 4)) - 1), kg = unit >> (log_rows - 4);
    const long stride = of_a ? m : n;
    const unsigned char* from = (of_a ? a + min(m0 + group * 16, m - 16) : b + min(n0 + group * 16, n - 16))
        + kg * 8 * stride;
    uintx2* const to = (uintx2*)((of_a ? lds_a : lds_b) + (kg >> 1 << log_rows) + group * 16) + (kg & 1);
    const int flip = swizzle(group, kg >> 1, log_rows);

    const int spot = wave & ((1 << log_spots) - 1), share = wave >> log_spots, col = lane & 31, half = lane >> 5;
    const int wm = (spot << 6) & ((1 << log_bm) - 1), wn = spot << 6 >> log_bm << 6;
    const int row[2] = {min(m0 + wm + col, m - 1), min(m0 + wm + 32 + col, m - 1)};
    const int first16 = share * (wave_k / 16) + half;  // an even number plus half: the swizzle sees nothing else of it
    const int read_m[2] = {place(wm + col, first16, log_bm), place(wm + 32 + col, first16, log_bm)};
    const int read_n[2] = {place(wn + col, first16, log_bn), place(wn + 32 + col, first16, log_bn)};
    const int scale_rows = (n + 127) >> 7;

    uintx4 word[8];
    auto fetch = [&]() {
#pragma unroll
        for (int i = 0; i < 8; ++i) word[i] = *(const uintx4*)(from + i * stride);
    };
    floatx16 total[2][2] = {}, sum[2][2];
    auto multiply = [&](int first) {  // 64 k
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
            longx2 va[2], vb[2];
#pragma unroll
            for (int t = 0; t < 2; ++t) {
                va[t] = ((const longx2*)lds_a)[read_m[t] + ((first + pair) * 2 << log_bm)];
                vb[t] = ((const longx2*)lds_b)[read_n[t] + ((first + pair) * 2 << log_bn)];
            }
#pragma unroll
            for (int step = 0; step < 2; ++step)
#pragma unroll
                for (int i = 0; i < 2; ++i)
#pragma unroll
                    for (int j = 0; j < 2; ++j)
                        sum[i][j] = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(vb[i][step], va[j][step], sum[i][j],
                                                                              0, 0, 0);
        }
    };
    if (fetches && kg * 8 < k) fetch();
    for (int k0 = 0; k0 < k; k0 += step_k) {
        __syncthreads();
        if (fetches) {
#pragma unroll
            for (int quad = 0; quad < 4; ++quad) {
                unsigned lo[4], hi[4];
                transpose4(word[0][quad], word[1][quad], word[2][quad], word[3][quad], lo);
                transpose4(word[4][quad], word[5][quad], word[6][quad], word[7][quad], hi);
#pragma unroll
                for (int r = 0; r < 4; ++r) to[((quad * 4 + r) ^ flip) * 2] = uintx2{lo[r], hi[r]};
            }
        }
        const int own = k0 + share * wave_k, block = min(own, k - 1) >> 7;
        const float bs = b_scale[(n0 + wn >> 7) + scale_rows * block];
        const float scale[2] = {a_scale[row[0] + (long)m * block] * bs, a_scale[row[1] + (long)m * block] * bs};
        __syncthreads();
        if (fetches && k0 + step_k + kg * 8 < k) {
            from += step_k * stride;
            fetch();
        }
        if (own >= k) continue;  // K is no multiple of what the workgroup takes at once
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j) sum[i][j] = floatx16{};
        multiply(0);
        if (is_long) multiply(2);
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j) total[i][j] += sum[i][j] * scale[j];
    }

    // Half of every wave's rows at a time go through LDS, where the shares of K are added and whole lines are made.
    floatx4* const mine = (floatx4*)lds + wave * 512;  // 32 rows of 16 slots
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                const floatx16 t = total[i][j];
                mine[col * 16 + ((i * 8 + q * 2 + half) ^ (col & 15))] =
                    floatx4{t[q * 4], t[q * 4 + 1], t[q * 4 + 2], t[q * 4 + 3]};
            }
        __syncthreads();
        for (int piece = tid; piece < 256 << log_spots; piece += blockDim.x) {
            const int w = piece >> 8, y = piece >> 3 & 31, x = piece & 7;
            const floatx4* part = (const floatx4*)lds + w * 512 + y * 16;
            const int left = (x * 2) ^ (y & 15), right = left ^ 1;
            floatx4 lo = part[left], hi = part[right];
            for (int s = 1; s < shares; ++s) {
                part += 512 << log_spots;
                lo += part[left];
                hi += part[right];
            }
            const int r = m0 + ((w << 6) & ((1 << log_bm) - 1)) + j * 32 + y, s = n0 + (w << 6 >> log_bm << 6) + x * 8;
            if (r < m && s < n)
                *(uintx4*)(c + (long)r * n + s) =
                    uintx4{bf16x2(lo.x, lo.y), bf16x2(lo.z, lo.w), bf16x2(hi.x, hi.y), bf16x2(hi.z, hi.w)};
        }
    }
}
