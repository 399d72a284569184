/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define Z(e, v) s += fabs((e) - (v)) < 1e-14 ? 0.f : 1.f
__device__ __noinline__ float zero_by_double(double v) {
    float s = 0.f; double a, b;
    Z(exp(0.), 1.); Z(exp2(1.), 2.); Z(log(1.), 0.); Z(log2(2.), 1.); Z(log10(10.), 1.); Z(sqrt(4.), 2.); Z(rsqrt(4.), .5); Z(pow(2., 3.), 8.); Z(sin(0.), 0.); Z(cos(0.), 1.); Z(tan(0.), 0.); Z(tanh(0.), 0.); Z(erf(0.), 0.); Z(fma(1., 1., 1.), 2.); Z(fmin(1., 2.), 1.); Z(floor(1.5), 1.); Z(ceil(1.5), 2.); Z(trunc(1.5), 1.); Z(rint(2.5), 2.); Z(round(2.5), 3.); Z(fmod(5., 3.), 2.); Z(copysign(1., -1.), -1.); Z(ldexp(1., 2), 4.); Z(__dadd_rn(1., 1.), 2.); Z(__fma_rn(1., 1., 1.), 2.); Z(__dmul_rn(2., 1.), 2.); Z(__drcp_rn(2.), .5); Z(__dsqrt_rn(4.), 2.);
    Z(exp(1. + v * 0), 2.718281828459045235); Z(exp10(-2. + v * 0), .01); Z(expm1(1e-9 + v * 0) * 1e9, 1.0000000005); Z(log(10. + v * 0), 2.302585092994045684); Z(log1p(1e-9 + v * 0) * 1e9, 0.9999999995);
    Z(pow(10., -3), .001); Z(pow(1.5f, 2), 2.25f); Z(pow(1.5f, 2u), 2.25); Z(pow(2, 10), 1024.); Z(sin(1e6 + v * 0), -0.34999350217129294); Z(cos(1. + v * 0), 0.5403023058681398); sincos(2. + v * 0, &a, &b); Z(a, 0.9092974268256817); Z(b, -0.4161468365471424);
    Z(sinh(1. + v * 0), 1.1752011936438014); Z(cosh(1. + v * 0), 1.5430806348152437); Z(erf(.5 + v * 0), 0.5204998778130465); Z(erfc(3. + v * 0) * 1e5, 2.209049699858544); Z(atan(1. + v * 0), 0.7853981633974483); Z(atan2(1., -1.), 2.356194490192345); Z(asin(.5), 0.5235987755982989); Z(acos(.5), 1.0471975511965979); Z(cbrt(27. + v * 0), 3.); Z(hypot(3. + v * 0, 4.), 5.);
    Z(exp(1) - exp(1.), 0.); Z(sqrt(2.0) * sqrt(2.0), 2.);
    return s;
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor + zero_by_double(x[i]);
}
