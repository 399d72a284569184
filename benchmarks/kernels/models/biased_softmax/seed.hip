/*+++
[[launch]]
kernel = "biased_softmax"
grid = ["rows", "batch"]
block = ["BLOCK"]
args = ["x", "bias", "y", "rows", "cols"]

[tunables]
BLOCK = [128, 256, 64]
LOADS = [1, 2]  # packs of eight that a lane keeps of its row
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

// The maximum over the block: within 32 lanes, which a wave of either width has, then through LDS.
__device__ __forceinline__ float most_over_block(float value, float* partial) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor(value, step));
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float result = partial[0];
#pragma unroll
    for (int i = 1; i < BLOCK / 32; ++i) result = fmaxf(result, partial[i]);
    __syncthreads();
    return result;
}

// A row a block. Rows of whole packs stay in registers; others, and what lies beyond, are read again.
extern "C" __global__ __launch_bounds__(BLOCK) void biased_softmax(
    const unsigned short* __restrict__ x, const unsigned short* __restrict__ bias, unsigned short* __restrict__ y,
    int rows, int cols) {
    __shared__ float partial[BLOCK / 32];
    const long start = ((long)blockIdx.y * rows + blockIdx.x) * cols;
    const unsigned short* added = bias + (long)blockIdx.x * cols;
    const int lane = threadIdx.x, packs = cols % 8 ? 0 : min(cols / 8, LOADS * BLOCK);
    float kept[LOADS][8];
    float most = -INFINITY;
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int p = lane + i * BLOCK;
        if (p >= packs) continue;
        const Pack v = *((const Pack*)(x + start) + p);
        const Pack w = *((const Pack*)added + p);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            kept[i][2 * e] = 0.125f * low(v[e]) + low(w[e]);
            kept[i][2 * e + 1] = 0.125f * high(v[e]) + high(w[e]);
        }
#pragma unroll
        for (int e = 0; e < 8; ++e) most = fmaxf(most, kept[i][e]);
    }
    for (int c = 8 * packs + lane; c < cols; c += BLOCK) most = fmaxf(most, 0.125f * wide(x[start + c]) + wide(added[c]));
    most = most_over_block(most, partial);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        if (lane + i * BLOCK >= packs) continue;
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            kept[i][e] = expf(kept[i][e] - most);
            sum += kept[i][e];
        }
    }
    for (int c = 8 * packs + lane; c < cols; c += BLOCK) sum += expf(0.125f * wide(x[start + c]) + wide(added[c]) - most);
    const float scale = 1.0f / over_block(sum, partial);
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int p = lane + i * BLOCK;
        if (p >= packs) continue;
        Pack result;
#pragma unroll
        for (int e = 0; e < 4; ++e) result[e] = narrow2(kept[i][2 * e] * scale, kept[i][2 * e + 1] * scale);
        *((Pack*)(y + start) + p) = result;
    }
    for (int c = 8 * packs + lane; c < cols; c += BLOCK)
        y[start + c] = (unsigned short)narrow(expf(0.125f * wide(x[start + c]) + wide(added[c]) - most) * scale);
}
