/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define Z(e, v) s += fabsf((e) - (v)) < 1e-4f ? 0.f : 1.f
__device__ __noinline__ float zero_by_math(float v) {
    float s = 0.f, a, b; int e;
    Z(expf(0.f), 1.f); Z(exp2f(3.f), 8.f); Z(exp10f(2.f), 100.f); Z(expm1f(0.f), 0.f); Z(logf(1.f), 0.f); Z(log2f(8.f), 3.f); Z(log10f(100.f), 2.f); Z(log1pf(0.f), 0.f);
    Z(sqrtf(4.f), 2.f); Z(rsqrtf(4.f), .5f); Z(cbrtf(8.f), 2.f); Z(rcbrtf(8.f), .5f); Z(powf(2.f, 3.f), 8.f); Z(powif(2.f, 3), 8.f); Z(hypotf(3.f, 4.f), 5.f);
    Z(sinf(0.f), 0.f); Z(cosf(0.f), 1.f); Z(tanf(0.f), 0.f); Z(sinpif(.5f), 1.f); Z(cospif(1.f), -1.f); Z(asinf(0.f), 0.f); Z(acosf(1.f), 0.f); Z(atanf(0.f), 0.f); Z(atan2f(0.f, 1.f), 0.f);
    Z(sinhf(0.f), 0.f); Z(coshf(0.f), 1.f); Z(tanhf(0.f), 0.f); Z(asinhf(0.f), 0.f); Z(acoshf(1.f), 0.f); Z(atanhf(0.f), 0.f);
    Z(erff(0.f), 0.f); Z(erfcf(0.f), 1.f); Z(normcdff(0.f), .5f);
    Z(fabsf(-1.f), 1.f); Z(floorf(1.5f), 1.f); Z(ceilf(1.5f), 2.f); Z(truncf(-1.5f), -1.f); Z(rintf(2.5f), 2.f); Z(nearbyintf(2.5f), 2.f); Z(roundf(2.5f), 3.f);
    Z(fmodf(5.f, 3.f), 2.f); Z(fmaf(2.f, 3.f, 1.f), 7.f); Z(fminf(1.f, 2.f), 1.f); Z(fmaxf(1.f, 2.f), 2.f); Z(fdimf(3.f, 1.f), 2.f); Z(copysignf(1.f, -2.f), -1.f);
    Z(ldexpf(1.f, 3), 8.f); Z(scalbnf(1.f, 3), 8.f); Z(frexpf(8.f, &e), .5f); Z(modff(1.5f, &a), .5f); Z((float)ilogbf(8.f), 3.f); Z(logbf(8.f), 3.f); Z(nextafterf(1.f, 2.f), 1.f);
    Z((float)lrintf(2.5f), 2.f); Z((float)lroundf(2.5f), 3.f); Z((float)llrintf(1.f), 1.f); Z((float)llroundf(1.f), 1.f);
    sincosf(0.f, &a, &b); Z(a, 0.f); Z(b, 1.f); sincospif(0.f, &a, &b); Z(b, 1.f);
    Z(isnan(v) ? 1.f : 0.f, 0.f); Z(isinf(v) ? 1.f : 0.f, 0.f); Z(isfinite(v) ? 1.f : 0.f, 1.f); Z(signbit(-1.f) ? 1.f : 0.f, 1.f);
    Z(norm3df(2.f, 3.f, 6.f), 7.f); Z(rnorm3df(2.f, 3.f, 6.f), 1 / 7.f); Z(rhypotf(3.f, 4.f), .2f); Z(norm4df(1.f, 1.f, 1.f, 1.f), 2.f); Z(fdividef(4.f, 2.f), 2.f);
    return s;
}
__device__ __noinline__ float zero_by_fast(float v) {
    float s = 0.f, a, b;
    Z(__expf(0.f), 1.f); Z(__exp10f(1.f), 10.f); Z(__logf(1.f), 0.f); Z(__log2f(2.f), 1.f); Z(__log10f(10.f), 1.f); Z(__powf(2.f, 2.f), 4.f); Z(__sinf(0.f), 0.f); Z(__cosf(0.f), 1.f); Z(__tanf(0.f), 0.f);
    __sincosf(0.f, &a, &b); Z(a + b, 1.f); Z(__fdividef(4.f, 2.f), 2.f); Z(__frcp_rn(2.f), .5f); Z(__frsqrt_rn(4.f), .5f); Z(__fsqrt_rn(4.f), 2.f); Z(__fadd_rn(1.f, 1.f), 2.f); Z(__fsub_rn(1.f, 1.f), 0.f); Z(__fmul_rn(2.f, 1.f), 2.f); Z(__fdiv_rn(2.f, 1.f), 2.f); Z(__fmaf_rn(1.f, 1.f, 1.f), 2.f); Z(__saturatef(2.f), 1.f);
    Z(__builtin_amdgcn_rcpf(2.f), .5f); Z(__builtin_amdgcn_sqrtf(4.f), 2.f); Z(__builtin_amdgcn_rsqf(4.f), .5f); Z(__builtin_amdgcn_exp2f(2.f), 4.f); Z(__builtin_amdgcn_logf(4.f), 2.f); Z(__builtin_amdgcn_fractf(1.25f), .25f); Z(__builtin_amdgcn_fmed3f(1.f, 3.f, 2.f), 2.f); Z(__builtin_amdgcn_sinf(0.f), 0.f); Z(__builtin_amdgcn_cosf(0.f), 1.f); Z(__builtin_amdgcn_ldexpf(1.f, 2), 4.f); Z(__builtin_amdgcn_frexp_mantf(8.f), .5f); Z((float)__builtin_amdgcn_frexp_expf(8.f), 4.f);
    Z(__builtin_fmaf(1.f, 1.f, 1.f), 2.f); Z(__builtin_sqrtf(4.f), 2.f); Z(__builtin_exp2f(1.f), 2.f); Z(__builtin_fabsf(-1.f), 1.f); Z(__builtin_huge_valf() > v ? 0.f : 1.f, 0.f); Z(__builtin_rintf(1.5f), 2.f); Z(__builtin_log2f(2.f), 1.f); Z(__builtin_expf(0.f), 1.f); Z(__builtin_elementwise_max(1.f, 2.f), 2.f); Z(__builtin_elementwise_exp2(1.f), 2.f);
    return s;
}
__device__ float zero_by_overloads(float v) {
    float s = 0.f;
    Z(exp(0.f), 1.f); Z(log(1.f), 0.f); Z(sqrt(4.f), 2.f); Z(rsqrt(4.f), .5f); Z(fabs(-1.f), 1.f); Z(abs(-1.f), 1.f); Z((float)abs(-3), 3.f); Z(max(1.f, 2.f), 2.f); Z(min(1.f, 2.f), 1.f); Z((float)max(1, 2), 2.f); Z((float)min(1u, 2u), 1.f); Z(fma(1.f, 1.f, 1.f), 2.f); Z(floor(1.5f), 1.f); Z(ceil(1.5f), 2.f); Z(round(1.5f), 2.f); Z(pow(2.f, 2.f), 4.f); Z(tanh(0.f), 0.f); Z(fmin(1.f, 2.f), 1.f); Z(fmax(1.0, 2.0), 2.0); Z(exp2(1.f), 2.f); Z(log2(2.f), 1.f); Z(sin(0.f), 0.f); Z(cos(0.), 1.);
    return s;
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor + zero_by_math(x[i]) + zero_by_fast(x[i]) + zero_by_overloads(x[i]);
}
