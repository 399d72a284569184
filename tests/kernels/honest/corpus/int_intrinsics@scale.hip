/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define Z(e, v) bad |= (e) != (v)
__device__ bool bad_bits(unsigned u) {
    bool bad = false;
    Z(__popc(0xffu), 8); Z(__popcll(0xffull), 8); Z(__clz(1), 31); Z(__clzll(1ll), 63); Z(__ffs(8), 4); Z(__ffsll(8ull), 4); Z(__brev(1u), 0x80000000u); Z(__brevll(1ull), 1ull << 63);
    Z(__mul24(3, -4), -12); Z(__umul24(3u, 4u), 12u); Z(__mulhi(1 << 30, 8), 2); Z(__umulhi(1u << 31, 2u), 1u); Z(__mul64hi(1ll << 62, 8ll), 2ll); Z(__umul64hi(1ull << 63, 2ull), 1ull);
    Z(__sad(1, 4, 1u), 4u); Z(__usad(1u, 4u, 1u), 4u); Z(__hadd(4, 6), 5); Z(__rhadd(4, 7), 6); Z(__uhadd(4u, 6u), 5u); Z(__urhadd(4u, 7u), 6u); Z(__byte_perm(0x33221100u, 0x77665544u, 0x7531u), 0x77553311u); Z(__funnelshift_l(0x80000000u, 1u, 1u), 3u); Z(__funnelshift_r(1u, 1u, 1u), 0x80000000u);
    Z(__float2int_rn(1.5f), 2); Z(__float2int_rz(1.5f), 1); Z(__float2int_rd(-1.5f), -2); Z(__float2int_ru(1.5f), 2); Z(__float2uint_rn(1.5f), 2u); Z(__float2uint_rz(1.5f), 1u); Z(__float2ll_rn(1.5f), 2ll); Z(__float2ull_rz(1.5f), 1ull); Z(__int2float_rn(1), 1.f); Z(__uint2float_rn(1u), 1.f); Z(__ll2float_rn(1ll), 1.f); Z(__double2float_rn(1.), 1.f); Z(__double2int_rn(1.5), 2); Z(__double2int_rz(1.5), 1); Z(__int2double_rn(1), 1.);
    Z(__hiloint2double(0x3ff00000, 0), 1.0); Z(__double2hiint(1.0), 0x3ff00000); Z(__double2loint(1.0), 0); Z(__double_as_longlong(1.0), 0x3ff0000000000000ll); Z(__longlong_as_double(0x3ff0000000000000ll), 1.0); Z(__float_as_int(1.f), 0x3f800000); Z(__uint_as_float(0x3f800000u), 1.f);
    Z(__bitextract_u32(0xff00u, 8u, 8u), 0xffu); Z(__bitinsert_u32(0u, 1u, 4u, 1u), 16u);
    Z(__popcll(__ballot(1)) > 0, true); Z(__any(1), 1); Z(__all(1), 1); Z((int)__popcll(__activemask()) > 0, 1); Z(__lane_id() < warpSize, true);
    Z(__builtin_popcount(7u), 3); Z(__builtin_clz(1u), 31); Z(__builtin_ctz(8u), 3); Z(__builtin_ffs(8), 4); Z(__builtin_bswap32(1u), 0x01000000u); Z(__builtin_bitreverse32(1u), 0x80000000u); Z(__builtin_rotateleft32(0x80000001u, 1), 3u); Z(__builtin_parity(7u), 1); Z(__builtin_abs(-1), 1);
    return bad;
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = bad_bits(i) ? -1.f : x[i] * factor;
}
