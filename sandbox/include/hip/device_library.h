// Functions of AMD's device library by its own names, which hand-written HIP sometimes calls and declares itself: such a
// declaration repeats one of these, and a definition of a candidate's own clashes with it.
#pragma once

#include <hip/device_functions.h>
#include <hip/double_functions.h>
#include <hip/further_functions.h>
#include <hip/math_functions.h>
#include <hip/special_functions.h>
#include <hip/warp_functions.h>

extern "C" {

#define KS_OCML_1(name)                                                 \
    KS_INLINE float __ocml_##name##_f32(float x) { return name##f(x); } \
    KS_INLINE double __ocml_##name##_f64(double x) { return name(x); }
#define KS_OCML_2(name)                                                             \
    KS_INLINE float __ocml_##name##_f32(float x, float y) { return name##f(x, y); } \
    KS_INLINE double __ocml_##name##_f64(double x, double y) { return name(x, y); }
// clang-format off: uses of a macro without semicolons are no statements to it
KS_OCML_1(exp) KS_OCML_1(exp2) KS_OCML_1(log) KS_OCML_1(log2) KS_OCML_1(log10) KS_OCML_1(log1p) KS_OCML_1(expm1)
KS_OCML_1(sqrt) KS_OCML_1(rsqrt) KS_OCML_1(sin) KS_OCML_1(cos) KS_OCML_1(tan) KS_OCML_1(tanh) KS_OCML_1(erf)
KS_OCML_1(erfc) KS_OCML_1(floor) KS_OCML_1(ceil) KS_OCML_1(trunc) KS_OCML_1(rint) KS_OCML_1(round) KS_OCML_1(fabs)
KS_OCML_1(acos) KS_OCML_1(asin) KS_OCML_1(atan) KS_OCML_1(acosh) KS_OCML_1(asinh) KS_OCML_1(atanh) KS_OCML_1(cbrt)
KS_OCML_1(cosh) KS_OCML_1(sinh) KS_OCML_1(exp10) KS_OCML_1(nearbyint) KS_OCML_1(rcbrt) KS_OCML_1(lgamma)
KS_OCML_1(tgamma) KS_OCML_1(erfinv) KS_OCML_1(erfcinv) KS_OCML_1(sinpi) KS_OCML_1(cospi) KS_OCML_1(logb)
KS_OCML_2(pow) KS_OCML_2(fmin) KS_OCML_2(fmax) KS_OCML_2(fmod) KS_OCML_2(atan2) KS_OCML_2(hypot) KS_OCML_2(copysign)
KS_OCML_2(fdim) KS_OCML_2(remainder) KS_OCML_2(nextafter) KS_OCML_2(rhypot)
#undef KS_OCML_1
#undef KS_OCML_2
KS_INLINE float __ocml_fma_f32(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
// clang-format on
KS_INLINE double __ocml_fma_f64(double x, double y, double z) { return __builtin_fma(x, y, z); }
KS_INLINE float __ocml_native_exp_f32(float x) { return __expf(x); }
KS_INLINE float __ocml_native_exp2_f32(float x) { return __builtin_amdgcn_exp2f(x); }
KS_INLINE float __ocml_native_log_f32(float x) { return __logf(x); }
KS_INLINE float __ocml_native_log2_f32(float x) { return __builtin_amdgcn_logf(x); }
KS_INLINE float __ocml_native_rsqrt_f32(float x) { return __builtin_amdgcn_rsqf(x); }
KS_INLINE float __ocml_native_recip_f32(float x) { return __builtin_amdgcn_rcpf(x); }
KS_INLINE float __ocml_native_sqrt_f32(float x) { return __builtin_amdgcn_sqrtf(x); }

// Where a work-item stands; the argument is the axis.
#define KS_OCKL_PLACE(name, object)                                                    \
    KS_INLINE size_t __ockl_get_##name(unsigned axis) {                                \
        return axis == 0 ? object.x : axis == 1 ? object.y : axis == 2 ? object.z : 0; \
    }
KS_OCKL_PLACE(local_id, threadIdx)
KS_OCKL_PLACE(group_id, blockIdx)
KS_OCKL_PLACE(local_size, blockDim)
KS_OCKL_PLACE(num_groups, gridDim)
#undef KS_OCKL_PLACE
KS_INLINE size_t __ockl_get_global_id(unsigned axis) {
    return __ockl_get_group_id(axis) * __ockl_get_local_size(axis) + __ockl_get_local_id(axis);
}
KS_INLINE size_t __ockl_get_global_size(unsigned axis) {
    return __ockl_get_num_groups(axis) * __ockl_get_local_size(axis);
}
KS_INLINE unsigned __ockl_lane_u32() { return __lane_id(); }
KS_INLINE unsigned __ockl_activelane_u32() {
    const unsigned long long active = __ballot(1);
    return static_cast<unsigned>(__popcll(active & ((1ull << __lane_id()) - 1)));
}
KS_INLINE unsigned __ockl_mul_hi_u32(unsigned a, unsigned b) { return __umulhi(a, b); }
KS_INLINE int __ockl_mul_hi_i32(int a, int b) { return __mulhi(a, b); }
KS_INLINE unsigned __ockl_mul24_u32(unsigned a, unsigned b) { return __umul24(a, b); }
KS_INLINE int __ockl_mul24_i32(int a, int b) { return __mul24(a, b); }
KS_INLINE unsigned __ockl_popcount_u32(unsigned a) { return static_cast<unsigned>(__popc(a)); }
KS_INLINE unsigned __ockl_clz_u32(unsigned a) { return static_cast<unsigned>(__clz(static_cast<int>(a))); }
KS_INLINE bool __ockl_wfany_i32(int a) { return __any(a) != 0; }
KS_INLINE bool __ockl_wfall_i32(int a) { return __all(a) != 0; }
// Reductions over the active lanes of a wave, in the order of a butterfly where all are active.
#define KS_OCKL_REDUCE(name, T, combined)                    \
    KS_INLINE T __ockl_wfred_##name(T x) {                   \
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
}
