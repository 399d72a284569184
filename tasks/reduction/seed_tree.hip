/*+++
[[launch]]
kernel = "parts"
grid = ["BLOCKS"]
block = ["BLOCK"]
args = ["x", "part", "n"]

[[launch]]
kernel = "whole"
grid = [1]
block = ["BLOCK"]
args = ["part", "y"]

[workspace]
part = ["f32", "BLOCKS"]

[tunables]
BLOCK = [256, 512, 1024]   # work-items a block
BLOCKS = [608, 1216, 304]  # blocks of the first launch
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(4)));

__device__ float over_block(float value, float* partial) {
#pragma unroll
    for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_xor(value, step);
    if (BLOCK == warpSize) return value;
    if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = value;
    __syncthreads();
    value = partial[0];
    for (int wave = 1; wave < BLOCK / warpSize; ++wave) value += partial[wave];
    __syncthreads();
    return value;
}

extern "C" __global__ __launch_bounds__(BLOCK) void parts(const float* __restrict__ x, float* __restrict__ part,
                                                          int n) {
    __shared__ float sums[BLOCK / 32];  // waves have 32 lanes or 64
    const Pack* packs = (const Pack*)x;
    const int item = blockIdx.x * BLOCK + threadIdx.x, step = gridDim.x * BLOCK;
    Pack sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = item; p < n / 4; p += step) {
        const Pack pack = packs[p];
#pragma unroll
        for (int v = 0; v < 4; ++v) sum[v] += pack[v];
    }
    float mine = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    if (item < n % 4) mine += x[n - 1 - item];
    mine = over_block(mine, sums);
    if (threadIdx.x == 0) part[blockIdx.x] = mine;
}

extern "C" __global__ __launch_bounds__(BLOCK) void whole(const float* __restrict__ part, float* __restrict__ y) {
    __shared__ float sums[BLOCK / 32];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < BLOCKS; i += BLOCK) sum += part[i];
    sum = over_block(sum, sums);
    if (threadIdx.x == 0) y[0] = sum;
}
