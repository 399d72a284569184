/*+++
[[launch]]
kernel = "parts"
grid = ["PARTS", "rows"]
block = ["BLOCK"]
args = ["x", "most", "sums", "cols"]

[[launch]]
kernel = "probabilities"
grid = ["PARTS", "rows"]
block = ["BLOCK"]
args = ["x", "most", "sums", "y", "cols"]

[workspace]
most = ["f32", "rows", "PARTS"]
sums = ["f32", "rows", "PARTS"]

[tunables]
PARTS = [16, 8, 32]
BLOCK = [256, 512]
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

// Where a part of a row begins: at a pack of eight.
__device__ __forceinline__ int begin_of(int part, int cols) { return min((int)((long)cols * part / PARTS / 8 * 8), cols); }
__device__ __forceinline__ int end_of(int part, int cols) { return part + 1 < PARTS ? begin_of(part + 1, cols) : cols; }

// The maximum of a part of a row, and the sum of exponentials against it.
extern "C" __global__ __launch_bounds__(BLOCK) void parts(
    const unsigned short* __restrict__ x, float* __restrict__ most, float* __restrict__ sums, int cols) {
    __shared__ float partial[BLOCK / 32];
    const int part = blockIdx.x, begin = begin_of(part, cols), end = end_of(part, cols);
    const unsigned short* row = x + (long)blockIdx.y * cols;
    const bool whole = cols % 8 == 0;
    const int packed_end = whole ? begin + (end - begin) / 8 * 8 : begin;
    float high_most = -INFINITY;
    for (int c = begin + 8 * threadIdx.x; c < packed_end; c += 8 * BLOCK) {
        const Pack v = *(const Pack*)(row + c);
#pragma unroll
        for (int e = 0; e < 4; ++e) high_most = fmaxf(high_most, fmaxf(low(v[e]), high(v[e])));
    }
    for (int c = packed_end + threadIdx.x; c < end; c += BLOCK) high_most = fmaxf(high_most, wide(row[c]));
    const float top = most_over_block(high_most, partial);
    float sum = 0.0f;
    for (int c = begin + 8 * threadIdx.x; c < packed_end; c += 8 * BLOCK) {
        const Pack v = *(const Pack*)(row + c);
#pragma unroll
        for (int e = 0; e < 4; ++e) sum += expf((low(v[e]) - top) * 1.25f) + expf((high(v[e]) - top) * 1.25f);
    }
    for (int c = packed_end + threadIdx.x; c < end; c += BLOCK) sum += expf((wide(row[c]) - top) * 1.25f);
    sum = over_block(sum, partial);
    if (threadIdx.x == 0) {
        most[blockIdx.y * PARTS + part] = top;
        sums[blockIdx.y * PARTS + part] = begin < end ? sum : 0.0f;
    }
}

// The probabilities of a part, from the sums of all parts.
extern "C" __global__ __launch_bounds__(BLOCK) void probabilities(
    const unsigned short* __restrict__ x, const float* __restrict__ most, const float* __restrict__ sums,
    float* __restrict__ y, int cols) {
    const int part = blockIdx.x, begin = begin_of(part, cols), end = end_of(part, cols);
    float top = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int p = 0; p < PARTS; ++p) top = fmaxf(top, most[blockIdx.y * PARTS + p]);
#pragma unroll
    for (int p = 0; p < PARTS; ++p) {
        const float of_part = sums[blockIdx.y * PARTS + p];
        if (of_part > 0.0f) sum += of_part * expf((most[blockIdx.y * PARTS + p] - top) * 1.25f);
    }
    const float scale = 1.0f / sum;
    const unsigned short* row = x + (long)blockIdx.y * cols;
    float* result = y + (long)blockIdx.y * cols;
    const bool whole = cols % 8 == 0;
    const int packed_end = whole ? begin + (end - begin) / 8 * 8 : begin;
    for (int c = begin + 8 * threadIdx.x; c < packed_end; c += 8 * BLOCK) {
        const Pack v = *(const Pack*)(row + c);
        float4 values[2];
        values[0].x = expf((low(v[0]) - top) * 1.25f) * scale;
        values[0].y = expf((high(v[0]) - top) * 1.25f) * scale;
        values[0].z = expf((low(v[1]) - top) * 1.25f) * scale;
        values[0].w = expf((high(v[1]) - top) * 1.25f) * scale;
        values[1].x = expf((low(v[2]) - top) * 1.25f) * scale;
        values[1].y = expf((high(v[2]) - top) * 1.25f) * scale;
        values[1].z = expf((low(v[3]) - top) * 1.25f) * scale;
        values[1].w = expf((high(v[3]) - top) * 1.25f) * scale;
        *(float4*)(result + c) = values[0];
        *(float4*)(result + c + 4) = values[1];
    }
    for (int c = packed_end + threadIdx.x; c < end; c += BLOCK) result[c] = expf((wide(row[c]) - top) * 1.25f) * scale;
}
