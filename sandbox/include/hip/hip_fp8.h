// 8-bit floats as gfx942 computes them: FNUZ (no infinity, no minus zero, the byte 0x80 is NaN).
// e4m3fnuz: bias 8, largest 240. e5m2fnuz: bias 16, largest 57344. Saturating conversions clamp finite values;
// infinities and NaN become NaN. The OCP types of other GPUs, which gfx942 has no instruction for, are computed in
// integers, as HIP does: saturating constructors, e4m3 up to 448 without infinity, e5m2 as IEEE's.
#pragma once

#include <hip/ks_device.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_vector_types.h>
#include <hip/small_floats.h>

#define HIP_FP8_TYPE_FNUZ 1
#define HIP_FP8_TYPE_OCP 1
#define HIP_FP8_CVT_FAST_PATH 1

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 };

KS_INLINE float ks_fp8_clamp(float v, float top) {
    return __builtin_fabsf(v) < __builtin_inff() ? __builtin_amdgcn_fmed3f(v, top, -top) : v;
}
template <bool Wide> KS_INLINE __hip_fp8x2_storage_t ks_fp8_pack(float a, float b, bool saturate) {
    constexpr float top = Wide ? 57344.0f : 240.0f;
    a = saturate ? ks_fp8_clamp(a, top) : a;
    b = saturate ? ks_fp8_clamp(b, top) : b;
    if constexpr (Wide) {
        return static_cast<__hip_fp8x2_storage_t>(__builtin_amdgcn_cvt_pk_bf8_f32(a, b, 0, false));
    } else {
        return static_cast<__hip_fp8x2_storage_t>(__builtin_amdgcn_cvt_pk_fp8_f32(a, b, 0, false));
    }
}
template <bool Wide> KS_INLINE float ks_fp8_value(__hip_fp8_storage_t bits) {
    if constexpr (Wide) {
        return __builtin_amdgcn_cvt_f32_bf8(bits, 0);
    } else {
        return __builtin_amdgcn_cvt_f32_fp8(bits, 0);
    }
}
template <bool Wide> KS_INLINE float2 ks_fp8_pair(unsigned bits) {
    if constexpr (Wide) {
        const auto v = __builtin_amdgcn_cvt_pk_f32_bf8(static_cast<int>(bits), false);
        return float2(v[0], v[1]);
    } else {
        const auto v = __builtin_amdgcn_cvt_pk_f32_fp8(static_cast<int>(bits), false);
        return float2(v[0], v[1]);
    }
}

// An OCP type; M bits behind the point.
template <int M> KS_INLINE __hip_fp8x2_storage_t ks_ocp_pack(float a, float b, bool saturate) {
    return static_cast<__hip_fp8x2_storage_t>(ks_small_float<M, false>::encode(a, saturate) |
                                              ks_small_float<M, false>::encode(b, saturate) << 8);
}
template <int M> KS_INLINE float ks_ocp_value(unsigned bits) {
    return ks_small_float<M, false>::decode(static_cast<unsigned char>(bits));
}
template <int M> KS_INLINE float2 ks_ocp_pair(unsigned bits) {
    return float2(ks_ocp_value<M>(bits), ks_ocp_value<M>(bits >> 8));
}

#define KS_FP8_TYPES(one, two, four, kind, pack, value, pair)                                                       \
    struct one {                                                                                                    \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                 \
        static constexpr __hip_fp8_interpretation_t __default_interpret = kind;                                     \
        __hip_fp8_storage_t __x;                                                                                    \
        one() = default;                                                                                            \
        __device__ KS_FP8_MEMBER explicit one(float v) : __x(static_cast<__hip_fp8_storage_t>(pack(v, v, true))) {} \
        __device__ KS_FP8_MEMBER explicit one(double v) : one(static_cast<float>(v)) {}                             \
        __device__ KS_FP8_MEMBER explicit one(int v) : one(static_cast<float>(v)) {}                                \
        __device__ KS_FP8_MEMBER explicit one(__half v) : one(__half2float(v)) {}                                   \
        __device__ KS_FP8_MEMBER explicit one(__hip_bfloat16 v) : one(static_cast<float>(v)) {}                     \
        __device__ KS_FP8_MEMBER operator float() const { return value(__x); }                                      \
        __device__ KS_FP8_MEMBER explicit operator __half() const { return __half(value(__x)); }                    \
        __device__ KS_FP8_MEMBER explicit operator __hip_bfloat16() const { return __hip_bfloat16(value(__x)); }    \
    };                                                                                                              \
    struct two {                                                                                                    \
        __hip_fp8x2_storage_t __x;                                                                                  \
        two() = default;                                                                                            \
        __device__ KS_FP8_MEMBER explicit two(float2 v) : __x(pack(v.x, v.y, true)) {}                              \
        __device__ KS_FP8_MEMBER explicit two(__hip_bfloat162 v) : two(float2(float(v.x), float(v.y))) {}           \
        __device__ KS_FP8_MEMBER explicit two(__half2 v) : two(float2(float(v.x), float(v.y))) {}                   \
        __device__ KS_FP8_MEMBER operator float2() const { return pair(__x); }                                      \
    };                                                                                                              \
    struct four {                                                                                                   \
        __hip_fp8x4_storage_t __x;                                                                                  \
        four() = default;                                                                                           \
        __device__ KS_FP8_MEMBER explicit four(float4 v)                                                            \
            : __x(pack(v.x, v.y, true) | static_cast<unsigned>(pack(v.z, v.w, true)) << 16) {}                      \
        __device__ KS_FP8_MEMBER explicit four(__hip_bfloat162 v, __hip_bfloat162 w)                                \
            : four(float4(float(v.x), float(v.y), float(w.x), float(w.y))) {}                                       \
        __device__ KS_FP8_MEMBER explicit four(__half2 v, __half2 w)                                                \
            : four(float4(float(v.x), float(v.y), float(w.x), float(w.y))) {}                                       \
        __device__ KS_FP8_MEMBER operator float4() const {                                                          \
            const float2 low = pair(__x), high = pair(__x >> 16);                                                   \
            return float4(low.x, low.y, high.x, high.y);                                                            \
        }                                                                                                           \
    };
#define KS_FP8_MEMBER inline __attribute__((always_inline, nodebug))
KS_FP8_TYPES(__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz, __HIP_E4M3_FNUZ, ks_fp8_pack<false>,
             ks_fp8_value<false>, ks_fp8_pair<false>)
KS_FP8_TYPES(__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz, __HIP_E5M2_FNUZ, ks_fp8_pack<true>,
             ks_fp8_value<true>, ks_fp8_pair<true>)
KS_FP8_TYPES(__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3, __HIP_E4M3, ks_ocp_pack<3>, ks_ocp_value<3>,
             ks_ocp_pair<3>)
KS_FP8_TYPES(__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2, __HIP_E5M2, ks_ocp_pack<2>, ks_ocp_value<2>,
             ks_ocp_pair<2>)
#undef KS_FP8_MEMBER
#undef KS_FP8_TYPES

KS_INLINE __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 v, __hip_saturation_t saturation,
                                                          __hip_fp8_interpretation_t kind) {
    const bool clamp = saturation == __HIP_SATFINITE;
    return kind == __HIP_E5M2_FNUZ   ? ks_fp8_pack<true>(v.x, v.y, clamp)
           : kind == __HIP_E4M3_FNUZ ? ks_fp8_pack<false>(v.x, v.y, clamp)
           : kind == __HIP_E5M2      ? ks_ocp_pack<2>(v.x, v.y, clamp)
                                     : ks_ocp_pack<3>(v.x, v.y, clamp);
}
KS_INLINE __hip_fp8_storage_t __hip_cvt_float_to_fp8(float v, __hip_saturation_t saturation,
                                                     __hip_fp8_interpretation_t kind) {
    return static_cast<__hip_fp8_storage_t>(__hip_cvt_float2_to_fp8x2(float2(v, v), saturation, kind));
}
KS_INLINE __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t bits, __hip_fp8_interpretation_t kind) {
    return __half(kind == __HIP_E5M2_FNUZ   ? ks_fp8_value<true>(bits)
                  : kind == __HIP_E4M3_FNUZ ? ks_fp8_value<false>(bits)
                  : kind == __HIP_E5M2      ? ks_ocp_value<2>(bits)
                                            : ks_ocp_value<3>(bits));
}
KS_INLINE __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw v, __hip_saturation_t saturation,
                                                       __hip_fp8_interpretation_t kind) {
    return __hip_cvt_float_to_fp8(__half2float(__half(v)), saturation, kind);
}
KS_INLINE __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw v, __hip_saturation_t saturation,
                                                           __hip_fp8_interpretation_t kind) {
    return __hip_cvt_float_to_fp8(ks_bf16_value(v.x), saturation, kind);
}
KS_INLINE __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t bits, __hip_fp8_interpretation_t kind) {
    return __half2(__half(__hip_cvt_fp8_to_halfraw(static_cast<__hip_fp8_storage_t>(bits), kind)),
                   __half(__hip_cvt_fp8_to_halfraw(static_cast<__hip_fp8_storage_t>(bits >> 8), kind)));
}
KS_INLINE __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(__half2_raw v, __hip_saturation_t saturation,
                                                            __hip_fp8_interpretation_t kind) {
    return __hip_cvt_float2_to_fp8x2(__half22float2(__half2(v)), saturation, kind);
}
