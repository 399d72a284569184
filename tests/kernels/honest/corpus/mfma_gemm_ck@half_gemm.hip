/*+++
[[launch]]
kernel = "gemm"
grid = ["ceil_div(n, 32) * ceil_div(m, 32)"]
block = [256]
args = ["a","b","c","m","n","k"]
+++*/
#include <hip/hip_runtime.h>

using half_t = _Float16;
template <typename T, int N> struct vector_type { typedef T type __attribute__((ext_vector_type(N))); };
template <typename T, int N> using vec_t = typename vector_type<T, N>::type;
using half4_t = vec_t<half_t, 4>; using float4_t = vec_t<float, 4>;
template <int M, int N, int K> struct Shape { static constexpr int m = M, n = N, k = K; };
template <class S> struct Mfma;
template <> struct Mfma<Shape<16, 16, 16>> {
    using A = half4_t; using B = half4_t; using C = float4_t;
    template <bool Transposed = false> static __device__ __forceinline__ void run(const A& a, const B& b, C& c) {
        if constexpr (Transposed) c = __builtin_amdgcn_mfma_f32_16x16x16f16(b, a, c, 0, 0, 0);
        else c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
    }
};
template <int BM, int BN, int BK> struct SharedStorage { alignas(16) half_t a[2][BM][BK + 4]; alignas(16) half_t b[2][BN][BK + 4]; };
template <class Instr, int BM, int BN, int BK> class BlockGemm {
    using Storage = SharedStorage<BM, BN, BK>;
    Storage* __restrict__ st;
    typename Instr::C acc{};
public:
    __device__ explicit BlockGemm(void* p) : st(static_cast<Storage*>(p)) {}
    __device__ void load(int buf, const half_t* a, const half_t* b, int m0, int n0, int k0, int m, int n, int k) {
        for (int i = threadIdx.x; i < BM * BK; i += 256) { const int r = i / BK, q = i % BK; st->a[buf][r][q] = (m0 + r < m && k0 + q < k) ? a[size_t(m0 + r) * k + k0 + q] : half_t(0); }
        for (int i = threadIdx.x; i < BN * BK; i += 256) { const int q = i / BN, r = i % BN; st->b[buf][r][q] = (n0 + r < n && k0 + q < k) ? b[size_t(k0 + q) * n + n0 + r] : half_t(0); }
    }
    __device__ void step(int buf, int wm, int wn, int lane) {
#pragma unroll
        for (int q = 0; q < BK; q += 16) {
            const auto* pa = reinterpret_cast<const half4_t*>(&st->a[buf][wm + lane % 16][q + lane / 16 * 4]);
            const auto* pb = reinterpret_cast<const half4_t*>(&st->b[buf][wn + lane % 16][q + lane / 16 * 4]);
            Instr::template run<false>(*pa, *pb, acc);
        }
    }
    __device__ const typename Instr::C& result() const { return acc; }
};
extern "C" __global__ __launch_bounds__(256, 2) void gemm(const half_t* __restrict__ a, const half_t* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    __shared__ SharedStorage<32, 32, 32> storage;
    BlockGemm<Mfma<Shape<16, 16, 16>>, 32, 32, 32> g(&storage);
    const int tn = (n + 31) / 32, m0 = blockIdx.x / tn * 32, n0 = blockIdx.x % tn * 32;
    const int lane = threadIdx.x & 63, wave = __builtin_amdgcn_readfirstlane(threadIdx.x >> 6);
    const int wm = wave / 2 * 16, wn = wave % 2 * 16;
    g.load(0, a, b, m0, n0, 0, m, n, k);
    for (int k0 = 0, buf = 0; k0 < k; k0 += 32, buf ^= 1) {
        __syncthreads();
        if (k0 + 32 < k) g.load(buf ^ 1, a, b, m0, n0, k0 + 32, m, n, k);
        __builtin_amdgcn_s_setprio(1);
        g.step(buf, wm, wn, lane);
        __builtin_amdgcn_s_setprio(0);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int r = m0 + wm + lane / 16 * 4 + e, q = n0 + wn + lane % 16;
        if (r < m && q < n) c[(size_t)r * n + q] = g.result()[e];
    }
}
