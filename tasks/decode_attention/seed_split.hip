/*+++
[[launch]]
kernel = "scores"
grid = ["ceil_div(length, 4)", "batch"]
block = [64, 4]
args = ["q", "kv", "score", "heads", "length", "latent", "rope", "scale"]

[[launch]]
kernel = "softmax"
grid = ["heads", "batch"]
block = [256]
args = ["score", "heads", "length"]

[[launch]]
kernel = "parts"
grid = ["SPLIT", "ceil_div(latent, 64)", "batch"]
block = [64]
args = ["score", "kv", "part", "heads", "length", "latent", "rope"]

[[launch]]
kernel = "whole"
grid = ["ceil_div(latent, 64)", "heads", "batch"]
block = [64]
args = ["part", "y", "heads", "latent"]

[workspace]
score = ["f32", "batch", "heads", "length"]
part = ["f32", "batch", "SPLIT", "heads", "latent"]

[tunables]
SPLIT = [64, 16, 32]  # parts of the cache that are summed on their own
+++*/
#include <hip/hip_runtime.h>

typedef unsigned short Pack __attribute__((ext_vector_type(4)));

constexpr int GROUP = 16;  // heads that share one reading of the cache

__device__ float widen(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// 64 lanes take a place of the cache once for GROUP heads, four elements a load.
extern "C" __global__ __launch_bounds__(256) void scores(const unsigned short* __restrict__ q,
                                                         const unsigned short* __restrict__ kv,
                                                         float* __restrict__ score, int heads, int length, int latent,
                                                         int rope, float scale) {
    __shared__ float halves[4][GROUP][2];
    const int width = latent + rope, lane = threadIdx.x, t = blockIdx.x * 4 + threadIdx.y;
    const long b = blockIdx.y;
    for (int first = 0; first < heads; first += GROUP) {
        float sums[GROUP] = {};
        if (t < length) {
            for (int k = lane * 4; k < width; k += 256) {
                const Pack of_kv = *(const Pack*)(kv + (b * length + t) * width + k);
#pragma unroll
                for (int g = 0; g < GROUP; ++g) {
                    if (first + g >= heads) continue;
                    const Pack of_q = *(const Pack*)(q + (b * heads + first + g) * width + k);
#pragma unroll
                    for (int e = 0; e < 4; ++e) sums[g] += widen(of_q[e]) * widen(of_kv[e]);
                }
            }
        }
#pragma unroll
        for (int g = 0; g < GROUP; ++g) {
            for (int step = warpSize / 2; step > 0; step /= 2) sums[g] += __shfl_xor(sums[g], step);
            if (lane % warpSize == 0) halves[threadIdx.y][g][lane / warpSize] = sums[g];
        }
        __syncthreads();
        if (lane < GROUP && first + lane < heads && t < length) {
            float sum = halves[threadIdx.y][lane][0];
            if (warpSize < 64) sum += halves[threadIdx.y][lane][1];
            score[(b * heads + first + lane) * length + t] = sum * scale;
        }
        __syncthreads();
    }
}

// The weights of a head take the place of its scores.
extern "C" __global__ __launch_bounds__(256) void softmax(float* __restrict__ score, int heads, int length) {
    __shared__ float found[256];
    score += ((long)blockIdx.y * heads + blockIdx.x) * length;
    const int item = threadIdx.x;
    float top = -INFINITY;
    for (int t = item; t < length; t += 256) top = fmaxf(top, score[t]);
    found[item] = top;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (item < step) found[item] = fmaxf(found[item], found[item + step]);
        __syncthreads();
    }
    top = found[0];
    __syncthreads();
    float sum = 0.0f;
    for (int t = item; t < length; t += 256) sum += expf(score[t] - top);
    found[item] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (item < step) found[item] += found[item + step];
        __syncthreads();
    }
    for (int t = item; t < length; t += 256) score[t] = expf(score[t] - top) / found[0];
}

// A part of the cache for 64 of its values and all heads: each value is loaded once for GROUP heads.
extern "C" __global__ __launch_bounds__(64) void parts(const float* __restrict__ score,
                                                       const unsigned short* __restrict__ kv,
                                                       float* __restrict__ part, int heads, int length, int latent,
                                                       int rope) {
    const int width = latent + rope, v = blockIdx.y * 64 + threadIdx.x;
    if (v >= latent) return;
    const long b = blockIdx.z;
    const int each = (length + SPLIT - 1) / SPLIT, begin = blockIdx.x * each, end = min(length, begin + each);
    for (int first = 0; first < heads; first += GROUP) {
        float sums[GROUP] = {};
        for (int t = begin; t < end; ++t) {
            const float value = widen(kv[(b * length + t) * width + v]);
#pragma unroll
            for (int g = 0; g < GROUP; ++g)
                if (first + g < heads) sums[g] += score[(b * heads + first + g) * length + t] * value;
        }
#pragma unroll
        for (int g = 0; g < GROUP; ++g)
            if (first + g < heads) part[((b * SPLIT + blockIdx.x) * heads + first + g) * latent + v] = sums[g];
    }
}

extern "C" __global__ __launch_bounds__(64) void whole(const float* __restrict__ part, unsigned short* __restrict__ y,
                                                       int heads, int latent) {
    const int v = blockIdx.x * 64 + threadIdx.x, g = blockIdx.y;
    if (v >= latent) return;
    const long b = blockIdx.z;
    float sum = 0.0f;
    for (int s = 0; s < SPLIT; ++s) sum += part[((b * SPLIT + s) * heads + g) * latent + v];
    y[(b * heads + g) * latent + v] = narrow(sum);
}
