/*+++
[[launch]]
kernel = "packed_pairs"
grid = ["n // 1024"]
block = [256]
args = ["x", "y", "turns"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: v_pk_fma_f32 takes two values at once. Slow: v_fma_f32 takes one.
typedef float pair __attribute__((ext_vector_type(2)));
extern "C" __global__ __launch_bounds__(256) void packed_pairs(const float* __restrict__ x, float* __restrict__ y,
                                                               int turns) {
    const int i = blockIdx.x * 1024 + threadIdx.x * 4;
    const float4 by = *(const float4*)(x + i);
#if FAST
    const pair b0 = {by.x, by.y}, b1 = {by.z, by.w}, half = {0.5f, 0.5f};
    pair v0 = b0, v1 = b1;
#pragma unroll 16
    for (int t = 0; t < turns; ++t) {
        v0 = __builtin_elementwise_fma(v0, b0, half);
        v1 = __builtin_elementwise_fma(v1, b1, half);
    }
    *(float4*)(y + i) = make_float4(v0.x, v0.y, v1.x, v1.y);
#else
    float4 v = by;
#pragma unroll 16
    for (int t = 0; t < turns; ++t) {
        asm("v_fma_f32 %0, %0, %1, 0.5" : "+v"(v.x) : "v"(by.x));
        asm("v_fma_f32 %0, %0, %1, 0.5" : "+v"(v.y) : "v"(by.y));
        asm("v_fma_f32 %0, %0, %1, 0.5" : "+v"(v.z) : "v"(by.z));
        asm("v_fma_f32 %0, %0, %1, 0.5" : "+v"(v.w) : "v"(by.w));
    }
    *(float4*)(y + i) = v;
#endif
}
