/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [64]
args = ["x","w","y","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>
__device__ inline float4 operator_mul(const float4& a, const float4& b) { return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
__device__ float hsum(float4 v) { return (v.x + v.y) + (v.z + v.w); }
extern "C" __global__ void k(const float* x, const float* w, float* y, int rows, int cols) {
    const size_t base = (size_t)blockIdx.x * cols;
    const dim3 me(threadIdx.x, threadIdx.y); uint3 it = threadIdx;
    for (int j = me.x + it.y; j < cols; j += blockDim.x) {
        float4 a{x[base + j], 0.f, 0.f, 0.f}, b = make_float4(expf(w[j]), 1, 1, 1);
        a += make_float4(0.f, 0.f, 0.f, 0.f); a *= 1.0f; b = 1.0f * b;
        float4 p = operator_mul(a, b);
        const int4 i4 = make_int4(1, 2, 3, 4); uint2 u2 = make_uint2(1u, 2u); double2 d2 = make_double2(1.0, 2.0); char4 c4 = make_char4(1, 2, 3, 4); short2 s2 = make_short2(1, 2); longlong2 l2 = make_longlong2(1, 2); float3 f3 = make_float3(0, 0, 0); ushort4 us{1, 2, 3, 4}; float1 f1 = make_float1(0.f);
        p.y += (float)(i4.x + u2.x + (int)d2.x + c4.x + s2.x + (int)l2.x + us.x - 7) + f3.z + f1.x;
        float2 q = float2{p.x, p.y} + float2{0.f, 0.f};
        q = -(-q); float* arr = reinterpret_cast<float*>(&q);
        y[base + j] = arr[0] + arr[1] + (p == p ? 0.f : 1.f) + hsum(make_float4(0, 0, 0, 0));
    }
}
