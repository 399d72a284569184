/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [64]
args = ["x","s","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

template <typename T> __device__ T uniform(T v) { static_assert(sizeof(T) == 4); return __builtin_bit_cast(T, __builtin_amdgcn_readfirstlane(__builtin_bit_cast(int, v))); }
template <typename T> __device__ T first(T v) { return __builtin_amdgcn_readfirstlane(v); }
template <typename T> __device__ T permute(T v, int src) { union { T t; int i[sizeof(T) / 4]; } u; u.t = v; for (auto& e : u.i) e = __builtin_amdgcn_ds_bpermute(src * 4, e); return u.t; }
template <int CTRL, typename T> __device__ T dpp(T v) { return __builtin_bit_cast(T, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, v), CTRL, 0xf, 0xf, true)); }
template <int CTRL, typename T> __device__ T dpp2(T v) { return __builtin_amdgcn_mov_dpp(v, CTRL, 0xf, 0xf, true); }
template <int PAT, class T> __device__ T swz(T v) { return __builtin_amdgcn_ds_swizzle(v, PAT); }
template <class T, int N> __device__ T lane_of(T v) { return __builtin_amdgcn_readlane(v, N); }
template <class T> __device__ auto vote(T p) { return __builtin_amdgcn_ballot_w64(p); }
template <class U> __device__ U prefix(U mask) { return __builtin_amdgcn_mbcnt_hi(mask >> 32, __builtin_amdgcn_mbcnt_lo(mask, 0)); }
template <class T> __device__ T fast(T v) { return __builtin_amdgcn_rcpf(__builtin_amdgcn_sqrtf(v)) * __builtin_amdgcn_exp2f(v); }
template <class T> __device__ T shfl_down_t(T v, unsigned o) { return __shfl_down(v, o, warpSize); }
__device__ void order() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); }
template <class T, int SLEEP> __device__ void hints(T n) { __builtin_amdgcn_s_sleep(SLEEP); __builtin_amdgcn_s_setprio(SLEEP); __builtin_amdgcn_sched_barrier(SLEEP); __builtin_amdgcn_sched_group_barrier(SLEEP, SLEEP, 0); if (n < T(0)) __builtin_amdgcn_s_barrier(); }
extern "C" __global__ void k(const float* x, float* s, int rows, int cols) {
    float v = 0.f;
    const int row = uniform(blockIdx.x);
    for (int j = threadIdx.x; j < cols; j += 64) v += x[row * cols + j];
    v += dpp<0xb1>(v); v += dpp<0x4e>(v); v += __int_as_float(swz<0x101f>(__float_as_int(v))); v += __int_as_float(swz<0x201f>(__float_as_int(v))); v += permute(v, __lane_id() ^ 16); v += shfl_down_t(v, 32);
    order(); hints<int, 1>(first(3));
    double d = permute((double)v, 0);
    int z = lane_of<int, 0>(0) + dpp2<0xb1>(0) + (vote(true) != ~0ull) + (prefix(~0ull) != threadIdx.x) + (fast(1.f) != 2.f);
    if (threadIdx.x == 0) s[row] = (float)d + z;
}
