/*+++
[[launch]]
kernel = "int8_linear"
grid = ["ceil_div(n, ROWS * EACH)", "ceil_div(tokens, 4)"]
block = ["32", "ROWS"]
args = ["x", "w", "scale", "y", "tokens", "k", "n"]

[tunables]
ROWS = [4, 8, 2]  # groups of 32 lanes a block
EACH = [2, 1, 4]  # rows of w a group
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

// Byte e of a word as a signed number.
__device__ __forceinline__ float byte_of(unsigned word, int e) { return (float)(signed char)(word >> 8 * e); }

// EACH rows of w to 32 lanes, for four tokens at a time: sixteen weights a load, the activations come from the caches.
extern "C" __global__ __launch_bounds__(32 * ROWS) void int8_linear(
    const unsigned short* __restrict__ x, const signed char* __restrict__ w, const unsigned short* __restrict__ scale,
    unsigned short* __restrict__ y, int tokens, int k, int n) {
    const int lane = threadIdx.x, row = (blockIdx.x * ROWS + threadIdx.y) * EACH, first = 4 * blockIdx.y;
    const int many = min(4, tokens - first), rows = min(EACH, n - row);
    if (rows <= 0) return;
    float sum[EACH][4];
#pragma unroll
    for (int r = 0; r < EACH; ++r)
#pragma unroll
        for (int t = 0; t < 4; ++t) sum[r][t] = 0.0f;
    const signed char* mine = w + (long)row * k;
    const int packs = k % 16 ? 0 : k / 16;
#pragma unroll 2
    for (int p = lane; p < packs; p += 32) {
        Pack bytes[EACH];
#pragma unroll
        for (int r = 0; r < EACH; ++r) bytes[r] = *((const Pack*)(mine + (long)min(r, rows - 1) * k) + p);
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const Pack* of_x = (const Pack*)(x + (long)(first + min(t, many - 1)) * k) + 2 * p;
            const Pack a = of_x[0], b = of_x[1];
#pragma unroll
            for (int r = 0; r < EACH; ++r) {
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    const unsigned left = bytes[r][e], right = bytes[r][e + 2];
                    sum[r][t] += low(a[2 * e]) * byte_of(left, 0) + high(a[2 * e]) * byte_of(left, 1);
                    sum[r][t] += low(a[2 * e + 1]) * byte_of(left, 2) + high(a[2 * e + 1]) * byte_of(left, 3);
                    sum[r][t] += low(b[2 * e]) * byte_of(right, 0) + high(b[2 * e]) * byte_of(right, 1);
                    sum[r][t] += low(b[2 * e + 1]) * byte_of(right, 2) + high(b[2 * e + 1]) * byte_of(right, 3);
                }
            }
        }
    }
    for (int c = 16 * packs + lane; c < k; c += 32)
#pragma unroll
        for (int r = 0; r < EACH; ++r)
#pragma unroll
            for (int t = 0; t < 4; ++t)
                if (r < rows && t < many)
                    sum[r][t] += wide(x[(long)(first + t) * k + c]) * (float)mine[(long)r * k + c];
#pragma unroll
    for (int r = 0; r < EACH; ++r)
#pragma unroll
        for (int t = 0; t < 4; ++t) {
#pragma unroll
            for (int step = 16; step > 0; step /= 2) sum[r][t] += __shfl_xor(sum[r][t], step);
            if (lane == 0 && r < rows && t < many)
                y[(long)(first + t) * n + row + r] = (unsigned short)narrow(sum[r][t] * wide(scale[row + r]));
        }
}
