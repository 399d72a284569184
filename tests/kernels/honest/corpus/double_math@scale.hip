/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define Z(e, v) s += fabs((e) - (v)) < 1e-6 ? 0.f : 1.f
__device__ __noinline__ float zero_by_double(double v) {
    float s = 0.f; double a, b;
    Z(exp(0.), 1.); Z(exp2(1.), 2.); Z(log(1.), 0.); Z(log2(2.), 1.); Z(log10(10.), 1.); Z(sqrt(4.), 2.); Z(rsqrt(4.), .5); Z(pow(2., 3.), 8.); Z(sin(0.), 0.); Z(cos(0.), 1.); Z(tan(0.), 0.); Z(tanh(0.), 0.); Z(erf(0.), 0.); Z(fma(1., 1., 1.), 2.); Z(fmin(1., 2.), 1.); Z(floor(1.5), 1.); Z(ceil(1.5), 2.); Z(trunc(1.5), 1.); Z(rint(2.5), 2.); Z(round(2.5), 3.); Z(fmod(5., 3.), 2.); Z(copysign(1., -1.), -1.); Z(ldexp(1., 2), 4.); Z(__dadd_rn(1., 1.), 2.); Z(__fma_rn(1., 1., 1.), 2.); Z(__dmul_rn(2., 1.), 2.); Z(__drcp_rn(2.), .5); Z(__dsqrt_rn(4.), 2.);
    return s;
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor + zero_by_double(x[i]);
}
