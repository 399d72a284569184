#include <hip/hip_runtime.h>
#include <hip/device_functions.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/math_functions.h>
#include <hip/special_functions.h>

#define EACH(name, expression) EACH_OF(float, name, expression)
#define EACH_OF(Number, name, expression)                                                            \
    extern "C" __global__ void name(const Number* first, const Number* second, Number* out, int n) { \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                         \
        if (i >= n) return;                                                                          \
        const Number x = first[i], y = second[i];                                                    \
        (void)x, (void)y;                                                                            \
        out[i] = expression;                                                                         \
    }
EACH(test_sin, sinf(x))
EACH(test_cos, cosf(x))
EACH(test_tan, tanf(x))
EACH(test_tanh, tanhf(x))
EACH(test_sinh, sinhf(x))
EACH(test_cosh, coshf(x))
EACH(test_expm1, expm1f(x))
EACH(test_log1p, log1pf(x))
EACH(test_erf, erff(x))
EACH(test_erfc, erfcf(x))
EACH(test_atan, atanf(x))
EACH(test_atan2, atan2f(x, y))
EACH(test_pow, powf(x, y))
EACH(test_cbrt, cbrtf(x))
EACH(test_exp10, exp10f(x))
EACH(test_asin, asinf(x))
EACH(test_acos, acosf(x))
EACH(test_asinh, asinhf(x))
EACH(test_acosh, acoshf(x))
EACH(test_atanh, atanhf(x))
EACH(test_sinpi, sinpif(x))
EACH(test_cospi, cospif(x))
EACH(test_logb, logbf(x))
EACH(test_nextafter, nextafterf(x, y))
EACH(test_hypot, hypotf(x, y))
EACH(test_bf16, __bfloat162float(__float2bfloat16(x)))
EACH(test_bf16_fma, __bfloat162float(__float2bfloat16(x) * __float2bfloat16(y) + __float2bfloat16(x)))
EACH(test_half, __half2float(__float2half(x)))
EACH(test_half_add, __half2float(__hadd(__half(x), __half(y))))
EACH(test_half2, __high2float(__hmul2(__floats2half2_rn(y, x), __floats2half2_rn(x, y))))
EACH(test_saturate, __saturatef(x))

__device__ unsigned bits_of(unsigned which, unsigned a, unsigned b, unsigned c) {
    switch (which) {
    case 0: return __popc(a);
    case 1: return __clz(static_cast<int>(a));
    case 2: return __ffs(a);
    case 3: return __brev(a);
    case 4: return __umulhi(a, b);
    case 5: return static_cast<unsigned>(__mulhi(static_cast<int>(a), static_cast<int>(b)));
    case 6: return __byte_perm(a, b, c);
    case 7: return __funnelshift_l(a, b, c);
    case 8: return __funnelshift_r(a, b, c);
    case 9: return __umul24(a, b);
    case 10: return static_cast<unsigned>(__clzll(static_cast<long long>(a) << 32 | b));
    default: return static_cast<unsigned>(__ffsll(static_cast<unsigned long long>(a) << 32 | b));
    }
}
// x is the function's number, the second buffer holds its arguments.
EACH_OF(unsigned, bits, bits_of(x, second[0], second[1], second[2]))
