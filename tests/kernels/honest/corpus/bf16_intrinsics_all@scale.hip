/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
__device__ float zero_by_bf16(float v) {
    const __hip_bfloat16 one = __float2bfloat16(1.0f), two = __float2bfloat16(2.f);
    __hip_bfloat16 h = __hadd(one, one);
    h = __hsub(h, two); h = __hmul(h, two); h = __hfma(h, two, h); h = __hneg(h); h = __habs(h);
    __hip_bfloat162 p = __halves2bfloat162(one, two), q = __bfloat162bfloat162(two);
    p = __hadd2(p, q); p = __hsub2(p, q); p = __hmul2(p, q); p = __hfma2(p, q, __float2bfloat162_rn(0.f));
    float s = __bfloat162float(__low2bfloat16(p)) - 4.f + __bfloat162float(__high2bfloat16(p)) - 8.f;
    s += __bfloat162float(__hmax(one, two)) - 2.f + __bfloat162float(__hmin(one, two)) - 1.f;
    s += __heq(one, two) || __hgt(one, two) || !__hlt(one, two);
    s += __bfloat162float(__hdiv(two, two)) - 1.f + __bfloat162float(hsqrt(__float2bfloat16(4.f))) - 2.f;
    s += __bfloat162float(__ushort_as_bfloat16(__bfloat16_as_ushort(two))) - 2.f;
    s += __hisnan(one) ? 1.f : 0.f;
    hip_bfloat16 old(1.0f); s += float(old) - 1.f;
    __hip_bfloat16 a = one; a += two; a = a * one - two; s += float(a) - 1.f;
    return s + __bfloat162float(h) + 0.f * v;
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor + zero_by_bf16(x[i]);
}
