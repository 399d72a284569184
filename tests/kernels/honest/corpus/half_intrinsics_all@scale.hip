/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>
__device__ float zero_by_halves(float v) {
    const __half one = __float2half(1.0f), two = __int2half_rn(2);
    __half h = __hadd(one, one);
    h = __hsub(h, two);                       // 0
    h = __hmul(h, two); h = __hfma(h, two, h); h = __hneg(h); h = __habs(h);
    __half2 p = __halves2half2(one, two), q = __half2half2(two);
    p = __hadd2(p, q); p = __hsub2(p, q); p = __hmul2(p, q); p = __hfma2(p, q, __float2half2_rn(0.f));  // (4, 8)
    p = __h2div(p, q);                        // (2, 4)
    const bool ok = __heq(__low2half(p), two) && __hgt(__high2half(p), two) && __hlt(one, two) && __hge(two, two) && __hle(one, two) && __hne(one, two);
    __half m = __hmax(one, two); m = __hmin(m, one);
    float s = __half2float(m) - 1.0f + __half2float(hsqrt(__float2half(4.f))) - 2.0f;
    s += __half2float(hexp2(two)) - 4.0f + __half2float(hrcp(two)) - 0.5f + __half2float(hrsqrt(__float2half(4.f))) - 0.5f;
    s += __half2float(hfloor(__float2half(1.5f))) - 1.0f + __half2float(hceil(__float2half(1.5f))) - 2.f + __half2float(htrunc(__float2half(1.5f))) - 1.f + __half2float(hrint(__float2half(2.5f))) - 2.f;
    s += (float)(__half2int_rn(two) - 2) + (float)(__half2uint_rn(two) - 2u) + __half2float(__ushort_as_half(__half_as_ushort(one))) - 1.f;
    s += __half2float(hlog2(two)) - 1.f;
    half2 z = h2exp2(__float2half2_rn(1.f)); s += __low2float(z) - 2.f + __high2float(z) - 2.f;
    s += __hisnan(one) || __hisinf(one) ? 1.f : 0.f;
    half2 sw = __lowhigh2highlow(__halves2half2(one, two)); s += __low2float(sw) - 2.f;
    s += __half2float(__hdiv(two, two)) - 1.f + __half2float(__float2half_rz(1.f)) - 1.f;
    s += __half2float(one + two - two * one / one) - 1.f;
    h += one; h -= one; 
    return (ok ? s : 1.f) + __half2float(h) + 0.f * v;
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor + zero_by_halves(x[i]);
}
