/*+++
[[launch]]
kernel = "int8_linear"
grid = ["ceil_div(n, ROWS)", "ceil_div(tokens, 4)"]
block = ["LANES", "ROWS"]
args = ["x", "w", "scale", "y", "tokens", "k", "n"]

[tunables]
LANES = [32]       # of one row of w
ROWS = [8, 4, 16]  # of w a block
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

// A row of w to LANES lanes, for four tokens at a time: sixteen weights a load, the activations come from the caches.
extern "C" __global__ __launch_bounds__(LANES* ROWS) void int8_linear(
    const unsigned short* __restrict__ x, const signed char* __restrict__ w, const unsigned short* __restrict__ scale,
    unsigned short* __restrict__ y, int tokens, int k, int n) {
    __shared__ float partial[4][ROWS][LANES];
    const int lane = threadIdx.x, row = blockIdx.x * ROWS + threadIdx.y, first = 4 * blockIdx.y;
    const int many = min(4, tokens - first);
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row < n) {
        const signed char* mine = w + (long)row * k;
        const int packs = k % 16 ? 0 : k / 16;
#pragma unroll 2
        for (int p = lane; p < packs; p += LANES) {
            const Pack bytes = *((const Pack*)mine + p);
#pragma unroll
            for (int t = 0; t < 4; ++t) {
                if (t >= many) continue;
                const Pack* of_x = (const Pack*)(x + (long)(first + t) * k) + 2 * p;
                const Pack a = of_x[0], b = of_x[1];
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    sum[t] += low(a[2 * e]) * byte_of(bytes[e], 0) + high(a[2 * e]) * byte_of(bytes[e], 1);
                    sum[t] += low(a[2 * e + 1]) * byte_of(bytes[e], 2) + high(a[2 * e + 1]) * byte_of(bytes[e], 3);
                    sum[t] += low(b[2 * e]) * byte_of(bytes[e + 2], 0) + high(b[2 * e]) * byte_of(bytes[e + 2], 1);
                    sum[t] += low(b[2 * e + 1]) * byte_of(bytes[e + 2], 2) + high(b[2 * e + 1]) * byte_of(bytes[e + 2], 3);
                }
            }
        }
        for (int c = 16 * packs + lane; c < k; c += LANES)
            for (int t = 0; t < many; ++t) sum[t] += wide(x[(long)(first + t) * k + c]) * (float)mine[c];
    }
#pragma unroll
    for (int t = 0; t < 4; ++t) partial[t][threadIdx.y][lane] = sum[t];
    __syncthreads();
    for (int half = LANES / 2; half > 0; half /= 2) {
        if (lane < half)
#pragma unroll
            for (int t = 0; t < 4; ++t) partial[t][threadIdx.y][lane] += partial[t][threadIdx.y][lane + half];
        __syncthreads();
    }
    if (row < n && lane < many)
        y[(long)(first + lane) * n + row] = (unsigned short)narrow(partial[lane][threadIdx.y][0] * wide(scale[row]));
}
