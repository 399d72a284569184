/*+++
[[launch]]
kernel = "swiglu"
grid = ["ceil_div(rows * cols, 8 * BLOCK)"]
block = ["BLOCK"]
args = ["g", "u", "y", "rows * cols"]

[tunables]
BLOCK = [256, 512, 128]
+++*/
#include <hip/hip_runtime.h>

typedef unsigned int Pack __attribute__((ext_vector_type(4)));  // eight bf16

__device__ __forceinline__ float low(unsigned word) { return __builtin_bit_cast(float, word << 16); }
__device__ __forceinline__ float high(unsigned word) { return __builtin_bit_cast(float, word & 0xffff0000u); }
__device__ __forceinline__ float wide(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }

__device__ __forceinline__ unsigned narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

__device__ __forceinline__ unsigned narrow2(float first, float second) { return narrow(first) | narrow(second) << 16; }

__device__ __forceinline__ float gated(float g, float u) { return g / (1.0f + expf(-g)) * u; }

// Eight elements a lane; the last few one by one.
extern "C" __global__ __launch_bounds__(BLOCK) void swiglu(
    const unsigned short* __restrict__ g, const unsigned short* __restrict__ u, unsigned short* __restrict__ y, int n) {
    const long start = 8l * (blockIdx.x * (long)BLOCK + threadIdx.x);
    if (start + 8 <= n) {
        const Pack a = *(const Pack*)(g + start), b = *(const Pack*)(u + start);
        Pack result;
#pragma unroll
        for (int e = 0; e < 4; ++e) result[e] = narrow2(gated(low(a[e]), low(b[e])), gated(high(a[e]), high(b[e])));
        *(Pack*)(y + start) = result;
        return;
    }
    for (long i = start; i < n; ++i) y[i] = (unsigned short)narrow(gated(wide(g[i]), wide(u[i])));
}
