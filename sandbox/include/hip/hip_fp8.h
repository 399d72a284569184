// 8-bit floats as gfx942 computes them: FNUZ (no infinity, no minus zero, the byte 0x80 is NaN).
// e4m3fnuz: bias 8, largest 240. e5m2fnuz: bias 16, largest 57344. Saturating conversions clamp finite values;
// infinities and NaN become NaN. The OCP types of other GPUs are not offered: this hardware does not have them.
#pragma once

#include <hip/ks_device.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_vector_types.h>

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

#define KS_FP8_TYPES(name, one, two, four, wide)                                                               \
    struct one {                                                                                               \
        __hip_fp8_storage_t __x;                                                                               \
        one() = default;                                                                                       \
        __device__ KS_FP8_MEMBER explicit one(float v)                                                         \
            : __x(static_cast<__hip_fp8_storage_t>(ks_fp8_pack<wide>(v, v, true))) {}                          \
        __device__ KS_FP8_MEMBER explicit one(double v) : one(static_cast<float>(v)) {}                        \
        __device__ KS_FP8_MEMBER explicit one(int v) : one(static_cast<float>(v)) {}                           \
        __device__ KS_FP8_MEMBER explicit one(__half v) : one(__half2float(v)) {}                              \
        __device__ KS_FP8_MEMBER explicit one(__hip_bfloat16 v) : one(static_cast<float>(v)) {}                \
        __device__ KS_FP8_MEMBER operator float() const { return ks_fp8_value<wide>(__x); }                    \
        __device__ KS_FP8_MEMBER explicit operator __half() const { return __half(ks_fp8_value<wide>(__x)); }  \
        __device__ KS_FP8_MEMBER explicit operator __hip_bfloat16() const {                                    \
            return __hip_bfloat16(ks_fp8_value<wide>(__x));                                                    \
        }                                                                                                      \
    };                                                                                                         \
    struct two {                                                                                               \
        __hip_fp8x2_storage_t __x;                                                                             \
        two() = default;                                                                                       \
        __device__ KS_FP8_MEMBER explicit two(float2 v) : __x(ks_fp8_pack<wide>(v.x, v.y, true)) {}            \
        __device__ KS_FP8_MEMBER operator float2() const { return ks_fp8_pair<wide>(__x); }                    \
    };                                                                                                         \
    struct four {                                                                                              \
        __hip_fp8x4_storage_t __x;                                                                             \
        four() = default;                                                                                      \
        __device__ KS_FP8_MEMBER explicit four(float4 v)                                                       \
            : __x(ks_fp8_pack<wide>(v.x, v.y, true) | static_cast<unsigned>(ks_fp8_pack<wide>(v.z, v.w, true)) \
                                                          << 16) {}                                            \
        __device__ KS_FP8_MEMBER operator float4() const {                                                     \
            const float2 low = ks_fp8_pair<wide>(__x), high = ks_fp8_pair<wide>(__x >> 16);                    \
            return float4(low.x, low.y, high.x, high.y);                                                       \
        }                                                                                                      \
    };
#define KS_FP8_MEMBER inline __attribute__((always_inline, nodebug))
KS_FP8_TYPES(e4m3, __hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz, false)
KS_FP8_TYPES(e5m2, __hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz, true)
#undef KS_FP8_MEMBER
#undef KS_FP8_TYPES

KS_INLINE __hip_fp8_storage_t __hip_cvt_float_to_fp8(float v, __hip_saturation_t saturation,
                                                     __hip_fp8_interpretation_t kind) {
    const bool clamp = saturation == __HIP_SATFINITE;
    return static_cast<__hip_fp8_storage_t>(kind == __HIP_E5M2_FNUZ ? ks_fp8_pack<true>(v, v, clamp)
                                                                    : ks_fp8_pack<false>(v, v, clamp));
}
KS_INLINE __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 v, __hip_saturation_t saturation,
                                                          __hip_fp8_interpretation_t kind) {
    const bool clamp = saturation == __HIP_SATFINITE;
    return kind == __HIP_E5M2_FNUZ ? ks_fp8_pack<true>(v.x, v.y, clamp) : ks_fp8_pack<false>(v.x, v.y, clamp);
}
