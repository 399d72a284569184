// Functions of AMD's device library by its own names, which hand-written HIP sometimes calls and declares itself. The
// names are macros: such a declaration then repeats one of these, and a definition of a candidate's own clashes with it.
#pragma once

#include <hip/device_functions.h>
#include <hip/double_functions.h>
#include <hip/further_functions.h>
#include <hip/math_functions.h>
#include <hip/special_functions.h>
#include <hip/warp_functions.h>

extern "C" {
#define KS_LIBRARY KS_INLINE

#define KS_OCML_1(name, one, two)                                        \
    KS_LIBRARY float __amd_ocml_##name##_f32(float x) { return one(x); } \
    KS_LIBRARY double __amd_ocml_##name##_f64(double x) { return two(x); }
#define KS_OCML_2(name, one, two)                                                    \
    KS_LIBRARY float __amd_ocml_##name##_f32(float x, float y) { return one(x, y); } \
    KS_LIBRARY double __amd_ocml_##name##_f64(double x, double y) { return two(x, y); }
KS_OCML_1(exp, expf, exp)
KS_OCML_1(exp2, exp2f, exp2)
KS_OCML_1(log, logf, log)
KS_OCML_1(log2, log2f, log2)
KS_OCML_1(log10, log10f, log10)
KS_OCML_1(log1p, log1pf, log1p)
KS_OCML_1(expm1, expm1f, expm1)
KS_OCML_1(sqrt, sqrtf, sqrt)
KS_OCML_1(rsqrt, rsqrtf, rsqrt)
KS_OCML_1(sin, sinf, sin)
KS_OCML_1(cos, cosf, cos)
KS_OCML_1(tan, tanf, tan)
KS_OCML_1(tanh, tanhf, tanh)
KS_OCML_1(erf, erff, erf)
KS_OCML_1(erfc, erfcf, erfc)
KS_OCML_1(floor, floorf, floor)
KS_OCML_1(ceil, ceilf, ceil)
KS_OCML_1(trunc, truncf, trunc)
KS_OCML_1(rint, rintf, rint)
KS_OCML_1(round, roundf, round)
KS_OCML_1(fabs, fabsf, fabs)
KS_OCML_1(acos, acosf, acos)
KS_OCML_1(asin, asinf, asin)
KS_OCML_1(atan, atanf, atan)
KS_OCML_1(acosh, acoshf, acosh)
KS_OCML_1(asinh, asinhf, asinh)
KS_OCML_1(atanh, atanhf, atanh)
KS_OCML_1(cbrt, cbrtf, cbrt)
KS_OCML_1(cosh, coshf, cosh)
KS_OCML_1(sinh, sinhf, sinh)
KS_OCML_1(exp10, exp10f, exp10)
KS_OCML_1(nearbyint, nearbyintf, nearbyint)
KS_OCML_1(rcbrt, rcbrtf, rcbrt)
KS_OCML_1(lgamma, lgammaf, lgamma)
KS_OCML_1(tgamma, tgammaf, tgamma)
KS_OCML_1(erfinv, erfinvf, erfinv)
KS_OCML_1(erfcinv, erfcinvf, erfcinv)
KS_OCML_1(sinpi, sinpif, sinpi)
KS_OCML_1(cospi, cospif, cospi)
KS_OCML_1(logb, logbf, logb)
KS_OCML_2(pow, powf, pow)
KS_OCML_2(fmin, fminf, fmin)
KS_OCML_2(fmax, fmaxf, fmax)
KS_OCML_2(fmod, fmodf, fmod)
KS_OCML_2(atan2, atan2f, atan2)
KS_OCML_2(hypot, hypotf, hypot)
KS_OCML_2(copysign, copysignf, copysign)
KS_OCML_2(fdim, fdimf, fdim)
KS_OCML_2(remainder, remainderf, remainder)
KS_OCML_2(nextafter, nextafterf, nextafter)
KS_OCML_2(rhypot, rhypotf, rhypot)
#undef KS_OCML_1
#undef KS_OCML_2
KS_LIBRARY float __amd_ocml_fma_f32(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KS_LIBRARY double __amd_ocml_fma_f64(double x, double y, double z) { return __builtin_fma(x, y, z); }
KS_LIBRARY float __amd_ocml_native_exp_f32(float x) { return __expf(x); }
KS_LIBRARY float __amd_ocml_native_exp2_f32(float x) { return __builtin_amdgcn_exp2f(x); }
KS_LIBRARY float __amd_ocml_native_log_f32(float x) { return __logf(x); }
KS_LIBRARY float __amd_ocml_native_log2_f32(float x) { return __builtin_amdgcn_logf(x); }
KS_LIBRARY float __amd_ocml_native_rsqrt_f32(float x) { return __builtin_amdgcn_rsqf(x); }
KS_LIBRARY float __amd_ocml_native_recip_f32(float x) { return __builtin_amdgcn_rcpf(x); }
KS_LIBRARY float __amd_ocml_native_sqrt_f32(float x) { return __builtin_amdgcn_sqrtf(x); }
#define __ocml_exp_f32 __amd_ocml_exp_f32
#define __ocml_exp_f64 __amd_ocml_exp_f64
#define __ocml_exp2_f32 __amd_ocml_exp2_f32
#define __ocml_exp2_f64 __amd_ocml_exp2_f64
#define __ocml_log_f32 __amd_ocml_log_f32
#define __ocml_log_f64 __amd_ocml_log_f64
#define __ocml_log2_f32 __amd_ocml_log2_f32
#define __ocml_log2_f64 __amd_ocml_log2_f64
#define __ocml_log10_f32 __amd_ocml_log10_f32
#define __ocml_log10_f64 __amd_ocml_log10_f64
#define __ocml_log1p_f32 __amd_ocml_log1p_f32
#define __ocml_log1p_f64 __amd_ocml_log1p_f64
#define __ocml_expm1_f32 __amd_ocml_expm1_f32
#define __ocml_expm1_f64 __amd_ocml_expm1_f64
#define __ocml_sqrt_f32 __amd_ocml_sqrt_f32
#define __ocml_sqrt_f64 __amd_ocml_sqrt_f64
#define __ocml_rsqrt_f32 __amd_ocml_rsqrt_f32
#define __ocml_rsqrt_f64 __amd_ocml_rsqrt_f64
#define __ocml_sin_f32 __amd_ocml_sin_f32
#define __ocml_sin_f64 __amd_ocml_sin_f64
#define __ocml_cos_f32 __amd_ocml_cos_f32
#define __ocml_cos_f64 __amd_ocml_cos_f64
#define __ocml_tan_f32 __amd_ocml_tan_f32
#define __ocml_tan_f64 __amd_ocml_tan_f64
#define __ocml_tanh_f32 __amd_ocml_tanh_f32
#define __ocml_tanh_f64 __amd_ocml_tanh_f64
#define __ocml_erf_f32 __amd_ocml_erf_f32
#define __ocml_erf_f64 __amd_ocml_erf_f64
#define __ocml_erfc_f32 __amd_ocml_erfc_f32
#define __ocml_erfc_f64 __amd_ocml_erfc_f64
#define __ocml_floor_f32 __amd_ocml_floor_f32
#define __ocml_floor_f64 __amd_ocml_floor_f64
#define __ocml_ceil_f32 __amd_ocml_ceil_f32
#define __ocml_ceil_f64 __amd_ocml_ceil_f64
#define __ocml_trunc_f32 __amd_ocml_trunc_f32
#define __ocml_trunc_f64 __amd_ocml_trunc_f64
#define __ocml_rint_f32 __amd_ocml_rint_f32
#define __ocml_rint_f64 __amd_ocml_rint_f64
#define __ocml_round_f32 __amd_ocml_round_f32
#define __ocml_round_f64 __amd_ocml_round_f64
#define __ocml_fabs_f32 __amd_ocml_fabs_f32
#define __ocml_fabs_f64 __amd_ocml_fabs_f64
#define __ocml_pow_f32 __amd_ocml_pow_f32
#define __ocml_pow_f64 __amd_ocml_pow_f64
#define __ocml_fmin_f32 __amd_ocml_fmin_f32
#define __ocml_fmin_f64 __amd_ocml_fmin_f64
#define __ocml_fmax_f32 __amd_ocml_fmax_f32
#define __ocml_fmax_f64 __amd_ocml_fmax_f64
#define __ocml_fmod_f32 __amd_ocml_fmod_f32
#define __ocml_fmod_f64 __amd_ocml_fmod_f64
#define __ocml_acos_f32 __amd_ocml_acos_f32
#define __ocml_acos_f64 __amd_ocml_acos_f64
#define __ocml_asin_f32 __amd_ocml_asin_f32
#define __ocml_asin_f64 __amd_ocml_asin_f64
#define __ocml_atan_f32 __amd_ocml_atan_f32
#define __ocml_atan_f64 __amd_ocml_atan_f64
#define __ocml_acosh_f32 __amd_ocml_acosh_f32
#define __ocml_acosh_f64 __amd_ocml_acosh_f64
#define __ocml_asinh_f32 __amd_ocml_asinh_f32
#define __ocml_asinh_f64 __amd_ocml_asinh_f64
#define __ocml_atanh_f32 __amd_ocml_atanh_f32
#define __ocml_atanh_f64 __amd_ocml_atanh_f64
#define __ocml_cbrt_f32 __amd_ocml_cbrt_f32
#define __ocml_cbrt_f64 __amd_ocml_cbrt_f64
#define __ocml_cosh_f32 __amd_ocml_cosh_f32
#define __ocml_cosh_f64 __amd_ocml_cosh_f64
#define __ocml_sinh_f32 __amd_ocml_sinh_f32
#define __ocml_sinh_f64 __amd_ocml_sinh_f64
#define __ocml_exp10_f32 __amd_ocml_exp10_f32
#define __ocml_exp10_f64 __amd_ocml_exp10_f64
#define __ocml_nearbyint_f32 __amd_ocml_nearbyint_f32
#define __ocml_nearbyint_f64 __amd_ocml_nearbyint_f64
#define __ocml_rcbrt_f32 __amd_ocml_rcbrt_f32
#define __ocml_rcbrt_f64 __amd_ocml_rcbrt_f64
#define __ocml_lgamma_f32 __amd_ocml_lgamma_f32
#define __ocml_lgamma_f64 __amd_ocml_lgamma_f64
#define __ocml_tgamma_f32 __amd_ocml_tgamma_f32
#define __ocml_tgamma_f64 __amd_ocml_tgamma_f64
#define __ocml_erfinv_f32 __amd_ocml_erfinv_f32
#define __ocml_erfinv_f64 __amd_ocml_erfinv_f64
#define __ocml_erfcinv_f32 __amd_ocml_erfcinv_f32
#define __ocml_erfcinv_f64 __amd_ocml_erfcinv_f64
#define __ocml_sinpi_f32 __amd_ocml_sinpi_f32
#define __ocml_sinpi_f64 __amd_ocml_sinpi_f64
#define __ocml_cospi_f32 __amd_ocml_cospi_f32
#define __ocml_cospi_f64 __amd_ocml_cospi_f64
#define __ocml_logb_f32 __amd_ocml_logb_f32
#define __ocml_logb_f64 __amd_ocml_logb_f64
#define __ocml_atan2_f32 __amd_ocml_atan2_f32
#define __ocml_atan2_f64 __amd_ocml_atan2_f64
#define __ocml_hypot_f32 __amd_ocml_hypot_f32
#define __ocml_hypot_f64 __amd_ocml_hypot_f64
#define __ocml_copysign_f32 __amd_ocml_copysign_f32
#define __ocml_copysign_f64 __amd_ocml_copysign_f64
#define __ocml_fdim_f32 __amd_ocml_fdim_f32
#define __ocml_fdim_f64 __amd_ocml_fdim_f64
#define __ocml_remainder_f32 __amd_ocml_remainder_f32
#define __ocml_remainder_f64 __amd_ocml_remainder_f64
#define __ocml_nextafter_f32 __amd_ocml_nextafter_f32
#define __ocml_nextafter_f64 __amd_ocml_nextafter_f64
#define __ocml_rhypot_f32 __amd_ocml_rhypot_f32
#define __ocml_rhypot_f64 __amd_ocml_rhypot_f64
#define __ocml_fma_f32 __amd_ocml_fma_f32
#define __ocml_fma_f64 __amd_ocml_fma_f64
#define __ocml_native_exp_f32 __amd_ocml_native_exp_f32
#define __ocml_native_exp2_f32 __amd_ocml_native_exp2_f32
#define __ocml_native_log_f32 __amd_ocml_native_log_f32
#define __ocml_native_log2_f32 __amd_ocml_native_log2_f32
#define __ocml_native_rsqrt_f32 __amd_ocml_native_rsqrt_f32
#define __ocml_native_recip_f32 __amd_ocml_native_recip_f32
#define __ocml_native_sqrt_f32 __amd_ocml_native_sqrt_f32

// Where a work-item stands; the argument is the axis.
#define KS_OCKL_PLACE(name, object)                                                    \
    KS_LIBRARY size_t __amd_ockl_get_##name(unsigned axis) {                           \
        return axis == 0 ? object.x : axis == 1 ? object.y : axis == 2 ? object.z : 0; \
    }
KS_OCKL_PLACE(local_id, threadIdx)
KS_OCKL_PLACE(group_id, blockIdx)
KS_OCKL_PLACE(local_size, blockDim)
KS_OCKL_PLACE(num_groups, gridDim)
#undef KS_OCKL_PLACE
KS_LIBRARY size_t __amd_ockl_get_global_id(unsigned axis) {
    return __amd_ockl_get_group_id(axis) * __amd_ockl_get_local_size(axis) + __amd_ockl_get_local_id(axis);
}
KS_LIBRARY size_t __amd_ockl_get_global_size(unsigned axis) {
    return __amd_ockl_get_num_groups(axis) * __amd_ockl_get_local_size(axis);
}
KS_LIBRARY unsigned __amd_ockl_lane_u32() { return __lane_id(); }
KS_LIBRARY unsigned __amd_ockl_activelane_u32() {
    const unsigned long long active = __ballot(1);
    return static_cast<unsigned>(__popcll(active & ((1ull << __lane_id()) - 1)));
}
KS_LIBRARY unsigned __amd_ockl_mul_hi_u32(unsigned a, unsigned b) { return __umulhi(a, b); }
KS_LIBRARY int __amd_ockl_mul_hi_i32(int a, int b) { return __mulhi(a, b); }
KS_LIBRARY unsigned __amd_ockl_mul24_u32(unsigned a, unsigned b) { return __umul24(a, b); }
KS_LIBRARY int __amd_ockl_mul24_i32(int a, int b) { return __mul24(a, b); }
KS_LIBRARY unsigned __amd_ockl_popcount_u32(unsigned a) { return static_cast<unsigned>(__popc(a)); }
KS_LIBRARY unsigned __amd_ockl_clz_u32(unsigned a) { return static_cast<unsigned>(__clz(static_cast<int>(a))); }
KS_LIBRARY bool __amd_ockl_wfany_i32(int a) { return __any(a) != 0; }
KS_LIBRARY bool __amd_ockl_wfall_i32(int a) { return __all(a) != 0; }
// Reductions over the active lanes of a wave, in the order of a butterfly where all are active.
#define KS_OCKL_REDUCE(name, T, combined)                    \
    KS_LIBRARY T __amd_ockl_wfred_##name(T x) {              \
        for (int step = warpSize / 2; step > 0; step /= 2) { \
            const T y = __shfl_xor(x, step);                 \
            x = combined;                                    \
        }                                                    \
        return x;                                            \
    }
KS_OCKL_REDUCE(add_i32, int, x + y)
KS_OCKL_REDUCE(add_u32, unsigned, x + y)
KS_OCKL_REDUCE(add_f32, float, x + y)
KS_OCKL_REDUCE(add_f64, double, x + y)
KS_OCKL_REDUCE(max_i32, int, x > y ? x : y)
KS_OCKL_REDUCE(max_u32, unsigned, x > y ? x : y)
KS_OCKL_REDUCE(max_f32, float, fmaxf(x, y))
KS_OCKL_REDUCE(min_i32, int, x < y ? x : y)
KS_OCKL_REDUCE(min_u32, unsigned, x < y ? x : y)
KS_OCKL_REDUCE(min_f32, float, fminf(x, y))
#undef KS_OCKL_REDUCE
#define __ockl_get_local_id __amd_ockl_get_local_id
#define __ockl_get_group_id __amd_ockl_get_group_id
#define __ockl_get_local_size __amd_ockl_get_local_size
#define __ockl_get_num_groups __amd_ockl_get_num_groups
#define __ockl_get_global_id __amd_ockl_get_global_id
#define __ockl_get_global_size __amd_ockl_get_global_size
#define __ockl_lane_u32 __amd_ockl_lane_u32
#define __ockl_activelane_u32 __amd_ockl_activelane_u32
#define __ockl_mul_hi_u32 __amd_ockl_mul_hi_u32
#define __ockl_mul_hi_i32 __amd_ockl_mul_hi_i32
#define __ockl_mul24_u32 __amd_ockl_mul24_u32
#define __ockl_mul24_i32 __amd_ockl_mul24_i32
#define __ockl_popcount_u32 __amd_ockl_popcount_u32
#define __ockl_clz_u32 __amd_ockl_clz_u32
#define __ockl_wfany_i32 __amd_ockl_wfany_i32
#define __ockl_wfall_i32 __amd_ockl_wfall_i32
#define __ockl_wfred_add_i32 __amd_ockl_wfred_add_i32
#define __ockl_wfred_add_u32 __amd_ockl_wfred_add_u32
#define __ockl_wfred_add_f32 __amd_ockl_wfred_add_f32
#define __ockl_wfred_add_f64 __amd_ockl_wfred_add_f64
#define __ockl_wfred_max_i32 __amd_ockl_wfred_max_i32
#define __ockl_wfred_max_u32 __amd_ockl_wfred_max_u32
#define __ockl_wfred_max_f32 __amd_ockl_wfred_max_f32
#define __ockl_wfred_min_i32 __amd_ockl_wfred_min_i32
#define __ockl_wfred_min_u32 __amd_ockl_wfred_min_u32
#define __ockl_wfred_min_f32 __amd_ockl_wfred_min_f32
#undef KS_LIBRARY
}
