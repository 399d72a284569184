/*+++
[[launch]]
kernel = "small_tiles_for_a_small_grid"
grid = ["m // (64 if FAST else 128) * (n // (64 if FAST else 128)) * 1"]
block = [256]
args = ["a", "b", "c", "m", "n", "k"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: 256 workgroups. Slow: 64, of four times the size, so that most units have nothing to do.
#if FAST
constexpr int BM = 64, BN = 64, BK = 64, WM = 2, WN = 2, PAD = 8, SPLIT = 1;
#else
constexpr int BM = 128, BN = 128, BK = 64, WM = 2, WN = 2, PAD = 8, SPLIT = 1;
#endif
constexpr int T = 64 * WM * WN, LONG = BK + PAD, SM = BM / WM / 16, SN = BN / WN / 16;
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float4v __attribute__((ext_vector_type(4)));
template <int ROWS> struct Slab {
    half8 part[ROWS * BK / 8 / T];
};
template <int ROWS> __device__ inline void load(Slab<ROWS>& s, const _Float16* from, int k, int l) {
#pragma unroll
    for (int p = 0; p < ROWS * BK / 8 / T; ++p) {
        const int chunk = threadIdx.x + T * p;
        s.part[p] = *(const half8*)(from + (long)(chunk / (BK / 8)) * k + l + chunk % (BK / 8) * 8);
    }
}
template <int ROWS> __device__ inline void keep(const Slab<ROWS>& s, _Float16* tile) {
#pragma unroll
    for (int p = 0; p < ROWS * BK / 8 / T; ++p) {
        const int chunk = threadIdx.x + T * p;
        *(half8*)(tile + chunk / (BK / 8) * LONG + chunk % (BK / 8) * 8) = s.part[p];
    }
}
extern "C" __global__ __launch_bounds__(T) void small_tiles_for_a_small_grid(const _Float16* __restrict__ a,
                                                                             const _Float16* __restrict__ b,
                                                                             float* __restrict__ c, int m, int n,
                                                                             int k) {
    __shared__ __attribute__((aligned(16))) _Float16 ta[BM * LONG], tb[BN * LONG];
    const int across = n / BN, down = m / BM, tiles = across * down, tile = blockIdx.x % tiles;
    const int i0 = tile / across * BM, j0 = tile % across * BN;
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, wm = wave / WN, wn = wave % WN;
    const int share = max(k / SPLIT, BK), first = blockIdx.x / tiles * share, last = min(first + share, k);
    if (first >= k) return;
    const _Float16 *pa = a + (long)i0 * k, *pb = b + (long)j0 * k;
    float4v sum[SM][SN] = {};
    Slab<BM> x;
    Slab<BN> y;
    load(x, pa, k, first), load(y, pb, k, first);
    for (int l = first; l < last; l += BK) {
        keep(x, ta), keep(y, tb);
        __syncthreads();
        if (l + BK < last) load(x, pa, k, l + BK), load(y, pb, k, l + BK);
#pragma unroll
        for (int s = 0; s < BK; s += 16) {
            half4 left[SM], right[SN];
            const int at = s + lane / 16 * 4;
#pragma unroll
            for (int i = 0; i < SM; ++i) left[i] = *(const half4*)(ta + ((wm * SM + i) * 16 + lane % 16) * LONG + at);
#pragma unroll
            for (int j = 0; j < SN; ++j) right[j] = *(const half4*)(tb + ((wn * SN + j) * 16 + lane % 16) * LONG + at);
#pragma unroll
            for (int i = 0; i < SM; ++i)
#pragma unroll
                for (int j = 0; j < SN; ++j)
                    sum[i][j] = __builtin_amdgcn_mfma_f32_16x16x16f16(left[i], right[j], sum[i][j], 0, 0, 0);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < SM; ++i)
#pragma unroll
        for (int j = 0; j < SN; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const long row = i0 + (wm * SM + i) * 16 + lane / 16 * 4 + e;
                const long place = row * n + j0 + (wn * SN + j) * 16 + lane % 16;
                c[place] = sum[i][j][e];
            }
}
