/*+++
[[launch]]
kernel = "add_rms_norm"
grid = ["rows"]
block = ["BLOCK"]
args = ["x", "r", "w", "s", "y", "rows", "cols"]

[tunables]
BLOCK = [256, 512, 128]
LOADS = [2, 1, 4]  # packs of eight that a lane keeps of its row
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

// The sum over the block: within 32 lanes, which a wave of either width has, then through LDS.
__device__ __forceinline__ float over_block(float value, float* partial) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor(value, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float result = partial[0];
#pragma unroll
    for (int i = 1; i < BLOCK / 32; ++i) result += partial[i];
    __syncthreads();
    return result;
}

// A row a block. Rows of whole packs stay in registers; others, and what lies beyond, are read twice, one by one.
extern "C" __global__ __launch_bounds__(BLOCK) void add_rms_norm(
    const unsigned short* __restrict__ x, const unsigned short* __restrict__ r, const unsigned short* __restrict__ w,
    unsigned short* __restrict__ s, unsigned short* __restrict__ y, int rows, int cols) {
    __shared__ float partial[BLOCK / 32];
    const long start = (long)blockIdx.x * cols;
    const int lane = threadIdx.x, packs = cols % 8 ? 0 : min(cols / 8, LOADS * BLOCK);
    Pack kept[LOADS];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int p = lane + i * BLOCK;
        kept[i] = Pack{0, 0, 0, 0};
        if (p >= packs) continue;
        const Pack a = *((const Pack*)(x + start) + p), b = *((const Pack*)(r + start) + p);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            kept[i][e] = narrow2(low(a[e]) + low(b[e]), high(a[e]) + high(b[e]));
            sum += low(kept[i][e]) * low(kept[i][e]) + high(kept[i][e]) * high(kept[i][e]);
        }
        *((Pack*)(s + start) + p) = kept[i];
    }
    for (int c = 8 * packs + lane; c < cols; c += BLOCK) {
        const float value = wide(x[start + c]) + wide(r[start + c]);
        s[start + c] = (unsigned short)narrow(value);
        sum += value * value;
    }
    const float scale = 1.0f / sqrtf(over_block(sum, partial) / cols + 1e-6f);
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int p = lane + i * BLOCK;
        if (p >= packs) continue;
        const Pack weight = *((const Pack*)w + p);
        Pack result;
#pragma unroll
        for (int e = 0; e < 4; ++e)
            result[e] = narrow2(low(kept[i][e]) * scale * low(weight[e]), high(kept[i][e]) * scale * high(weight[e]));
        *((Pack*)(y + start) + p) = result;
    }
    for (int c = 8 * packs + lane; c < cols; c += BLOCK) {
        const float value = wide(x[start + c]) + wide(r[start + c]);
        y[start + c] = (unsigned short)narrow(value * scale * wide(w[c]));
    }
}
