/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [64]
args = ["x","s","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

#define ROW_SHR(n) (0x110 + (n))
#define DPP_ADD(v, ctrl, rm, bm) ((v) + __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, (v)), ctrl, rm, bm, false)))
__device__ float wave_sum_dpp(float v) {
    v = DPP_ADD(v, ROW_SHR(1), 0xf, 0xf);
    v = DPP_ADD(v, ROW_SHR(2), 0xf, 0xf);
    v = DPP_ADD(v, ROW_SHR(4), 0xf, 0xf);
    v = DPP_ADD(v, ROW_SHR(8), 0xf, 0xf);
    v = DPP_ADD(v, 0x142, 0xa, 0xf);
    v = DPP_ADD(v, 0x143, 0xc, 0xf);
    return __int_as_float(__builtin_amdgcn_readlane(__float_as_int(v), 63));
}
__device__ float wave_sum_swizzle(float v) {
    v += __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(v), 0x041f));
    v += __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(v), 0x081f));
    v += __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(v), 0x101f));
    v += __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(v), 0x201f));
    v += __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(v), 0x401f));
    v += __int_as_float(__builtin_amdgcn_ds_bpermute(4 * ((__lane_id() + 32) % 64), __float_as_int(v)));
    return v;
}
__device__ float wave_sum_mov(float v) {
    v += __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), 0xb1, 0xf, 0xf, true));
    v += __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), 0x4e, 0xf, 0xf, true));
    v += __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), 0x141, 0xf, 0xf, 1));
    v += __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), 0x140, 0xf, 0xf, 1));
    v += __shfl_xor(v, 16); v += __shfl_xor(v, 32);
    return v;
}
extern "C" __global__ void k(const float* x, float* s, int rows, int cols) {
    const int lane = threadIdx.x;
    float v = 0.f;
    const unsigned long long live = __builtin_amdgcn_read_exec();
    for (int j = lane; j < cols; j += 64) v += x[(size_t)blockIdx.x * cols + j];
    const int which = __builtin_amdgcn_readfirstlane(blockIdx.x % 3);
    float r = which == 0 ? wave_sum_dpp(v) : which == 1 ? wave_sum_swizzle(v) : wave_sum_mov(v);
    const int prefix = __builtin_amdgcn_mbcnt_hi((unsigned)(live >> 32), __builtin_amdgcn_mbcnt_lo((unsigned)live, 0));
    if (__builtin_amdgcn_ballot_w64(prefix == lane) != ~0ull) r = NAN;
    r = __int_as_float(__builtin_amdgcn_ds_permute(lane << 2, __float_as_int(r)));
    __builtin_amdgcn_wave_barrier();
    if (lane == 0) s[blockIdx.x] = r;
}
