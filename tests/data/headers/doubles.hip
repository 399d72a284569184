#include <hip/hip_runtime.h>
#include <hip/overloaded_functions.h>

#define EACH(name, expression)                                                                       \
    extern "C" __global__ void name(const double* first, const double* second, double* out, int n) { \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                         \
        if (i >= n) return;                                                                          \
        const double x = first[i], y = second[i];                                                    \
        (void)x, (void)y;                                                                            \
        out[i] = expression;                                                                         \
    }
EACH(test_exp, exp(x))
EACH(test_exp2, exp2(x))
EACH(test_exp10, exp10(x))
EACH(test_expm1, expm1(x))
EACH(test_log, log(x))
EACH(test_log1p, log1p(x))
EACH(test_log2, log2(x))
EACH(test_log10, log10(x))
EACH(test_sin, sin(x))
EACH(test_cos, cos(x))
EACH(test_tan, tan(x))
EACH(test_tanh, tanh(x))
EACH(test_sinh, sinh(x))
EACH(test_cosh, cosh(x))
EACH(test_erf, erf(x))
EACH(test_erfc, erfc(x))
EACH(test_atan, atan(x))
EACH(test_asin, asin(x))
EACH(test_acos, acos(x))
EACH(test_cbrt, cbrt(x))
EACH(test_pow, pow(x, y))
EACH(test_atan2, atan2(x, y))
EACH(test_hypot, hypot(x, y))

// As C++ has it: whole numbers and mixtures are double, float stays float.
template <class A, class B> constexpr bool kSame = false;
template <class A> constexpr bool kSame<A, A> = true;
static_assert(kSame<decltype(exp(1)), double> && kSame<decltype(exp(1.0f)), float> &&
              kSame<decltype(exp(1.0)), double>);
static_assert(kSame<decltype(pow(2, 3)), double> && kSame<decltype(pow(2.0f, 3.0)), double>);
static_assert(kSame<decltype(pow(2.0f, 3.0f)), float> && kSame<decltype(pow(2.0, 3)), double>);
static_assert(kSame<decltype(atan2(1.0f, 2.0)), double> && kSame<decltype(sinh(1.0f)), float>);
