/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define Z(e, v) bad |= ((e) != (v))
typedef short s2 __attribute__((ext_vector_type(2)));
typedef unsigned short us2 __attribute__((ext_vector_type(2)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
template <unsigned SEL> __device__ unsigned pick(unsigned a, unsigned b) { return __builtin_amdgcn_perm(a, b, SEL); }
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool bad = false;
    const unsigned u = 0x44332211u, v = 0x88776655u;
    Z(pick<0x07060504u>(u, v), u); Z(__builtin_amdgcn_perm(u, v, 0x03020100u), v);
    Z(__builtin_amdgcn_alignbit(u, v, 8u), 0x11887766u); Z(__builtin_amdgcn_alignbyte(u, v, 1), 0x11887766u);
    Z(__builtin_amdgcn_ubfe(u, 8u, (unsigned)sizeof(char) * 8), 0x22u); Z(__builtin_amdgcn_sbfe(-1, 0u, 4u), -1);
    Z(__builtin_amdgcn_sad_u8(u, u, 3u), 3u);
    Z(__builtin_amdgcn_sdot4(0x01010101, 0x02020202, 1, false), 9); Z(__builtin_amdgcn_udot4(0x01010101u, 0x02020202u, 1u, false), 9u);
    Z(__builtin_amdgcn_sdot8(0x11111111, 0x11111111, 0, false), 8); Z(__builtin_amdgcn_udot8(0x11111111u, 0x11111111u, 0u, true), 8u);
    Z(__builtin_amdgcn_sdot2(s2{1, 2}, s2{3, 4}, 0, false), 11); Z(__builtin_amdgcn_udot2(us2{1, 2}, us2{3, 4}, 0u, false), 11u);
    Z(__builtin_amdgcn_fdot2(h2{1, 2}, h2{3, 4}, 0.f, false), 11.f);
    auto p = __builtin_amdgcn_cvt_pkrtz(1.f, 2.f); Z((float)p[0] + (float)p[1], 3.f);
    _Float16 rh = __builtin_amdgcn_rcph((_Float16)2), sh = __builtin_amdgcn_sqrth((_Float16)4); Z((float)rh, 0.5f); Z((float)sh, 2.f); Z((float)__builtin_amdgcn_rsqh(sh * sh), 0.5f); Z((float)__builtin_amdgcn_fmed3h((_Float16)1, rh, sh), 1.f);
    h2 pk = __builtin_bit_cast(h2, __builtin_amdgcn_cvt_pkrtz(x[0], 2.f)); Z((float)pk.y, 2.f);
    Z(__builtin_amdgcn_classf(1.f, 0x100), true);
    int w = __builtin_amdgcn_cvt_pk_fp8_f32(1.f, 2.f, 0, false); w = __builtin_amdgcn_cvt_pk_fp8_f32(4.f, 8.f, w, true);
    Z(__builtin_amdgcn_cvt_f32_fp8(w, 0), 1.f); Z(__builtin_amdgcn_cvt_f32_fp8(w, 3), 8.f);
    auto f = __builtin_amdgcn_cvt_pk_f32_fp8(w, true); Z(f[0] + f[1], 12.f);
    w = __builtin_amdgcn_cvt_pk_bf8_f32(1.f, 2.f, __builtin_amdgcn_readfirstlane(0), false); Z(__builtin_amdgcn_cvt_f32_bf8(w, 1), 2.f); f = __builtin_amdgcn_cvt_pk_f32_bf8(w, false); Z(f[0], 1.f);
    w = __builtin_amdgcn_cvt_sr_fp8_f32(1.f, 0, 0, 0); Z(__builtin_amdgcn_cvt_f32_fp8(w, 0), 1.f);
    w = __builtin_amdgcn_cvt_sr_bf8_f32(1.f, 0, w, 2); Z(__builtin_amdgcn_cvt_f32_bf8(w, 2), 1.f);
    Z(__builtin_amdgcn_workgroup_id_x(), blockIdx.x); Z(__builtin_amdgcn_workitem_id_x(), threadIdx.x); Z(__builtin_amdgcn_wavefrontsize(), 64u); Z(__builtin_amdgcn_workgroup_size_x(), 256u);
    if (i < n) y[i] = bad ? NAN : x[i] * factor;
}
