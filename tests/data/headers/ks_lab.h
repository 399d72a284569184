// Stands in for the lab's header when the tests build the device headers for this machine as one plain thread.
#pragma once
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define KS_INLINE static inline __attribute__((always_inline, nodebug))
#define __builtin_amdgcn_exp2f __builtin_exp2f
#define __builtin_amdgcn_logf __builtin_log2f
KS_INLINE float ks_within_an_ulp(float, float nearest) { return nearest; }
#define __builtin_amdgcn_rsqf(x) (1.0f / __builtin_sqrtf(x))
#define __builtin_amdgcn_rcpf(x) (1.0f / (x))
#define __builtin_amdgcn_sinf(turns) __builtin_sinf((turns) * 6.283185307f)
#define __builtin_amdgcn_cosf(turns) __builtin_cosf((turns) * 6.283185307f)
#define __builtin_amdgcn_fmed3f(a, b, c) __builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c))
#define __builtin_amdgcn_fence(order, scope)
#define __builtin_amdgcn_s_barrier()
#define __builtin_amdgcn_s_memtime() 0
typedef _Float16 ks_two_halves __attribute__((ext_vector_type(2)));
#define __builtin_amdgcn_cvt_pkrtz(a, b) ks_two_halves{(_Float16)(a), (_Float16)(b)}
#define __builtin_amdgcn_flat_atomic_fadd_v2f16(p, v) (*(p) += (v))
#define __builtin_amdgcn_flat_atomic_fadd_v2bf16(p, v) (*(p) += (v))
#define __builtin_amdgcn_frexp_mantf(x) ks_split(x).mantissa
#define __builtin_amdgcn_frexp_expf(x) ks_split(x).exponent
struct ks_parts {
  float mantissa;
  int exponent;
};
static inline ks_parts ks_split(float x) {
  int e = 0;
  const float m = __builtin_frexpf(x, &e);
  return {m, e};
}
#define __builtin_amdgcn_s_memrealtime() 0
