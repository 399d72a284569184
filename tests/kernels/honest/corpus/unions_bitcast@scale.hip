/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

union F32 { float f; unsigned u; unsigned short h[2]; unsigned char b[4]; };
template <typename To, typename From> __device__ __forceinline__ To bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}
union Vec16 { float4 f4; float f[4]; uint4 u4; struct { float2 lo, hi; } p; };
extern "C" __global__ void k(const float* __restrict x, float* __restrict y, int n, float factor) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    F32 v; v.f = x[i];
    F32 w; w.u = v.u & 0xffff0000u | (unsigned)v.h[0];
    w.b[0] = v.b[0];
    const unsigned bits = bit_cast<unsigned>(w.f);
    const float a = __builtin_bit_cast(float, bits);
    const float b = __int_as_float(__float_as_int(a));
    Vec16 q; q.f4 = make_float4(b, 0.f, 0.f, 0.f);
    q.p.hi = q.p.lo;
    float r; memcpy(&r, &q.f[2], sizeof r);
    int raw = *reinterpret_cast<int*>(&r);
    y[i] = *(float*)&raw * factor;
}
