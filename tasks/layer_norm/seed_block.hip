/*+++
[[launch]]
kernel = "layer_norm"
grid = ["rows"]
block = ["BLOCK"]
args = ["x", "w", "b", "y", "rows", "cols", "eps"]

[tunables]
BLOCK = [256, 64, 128, 512, 1024]  # work-items a row
KEEP = [8, 0, 2, 4, 16]            # elements of a row each lane keeps in registers; the rest is read three times
+++*/
#include <hip/hip_runtime.h>

constexpr int KEPT = KEEP > 0 ? KEEP : 1;

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

extern "C" __global__ __launch_bounds__(BLOCK) void layer_norm(const float* __restrict__ x, const float* __restrict__ w,
                                                               const float* __restrict__ b, float* __restrict__ y,
                                                               int rows, int cols, float eps) {
    __shared__ float sums[BLOCK / 32];  // waves have 32 lanes or 64
    const int lane = threadIdx.x;
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float kept[KEPT], sum = 0.0f;
#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        const int j = lane + i * BLOCK;
        kept[i] = j < cols ? x[j] : 0.0f;
        sum += kept[i];
    }
    for (int j = lane + KEEP * BLOCK; j < cols; j += BLOCK) sum += x[j];
    const float mean = over_block(sum, sums) / cols;

    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        const float off = lane + i * BLOCK < cols ? kept[i] - mean : 0.0f;
        squares += off * off;
    }
    for (int j = lane + KEEP * BLOCK; j < cols; j += BLOCK) squares += (x[j] - mean) * (x[j] - mean);
    const float scale = 1.0f / sqrtf(over_block(squares, sums) / cols + eps);

#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        const int j = lane + i * BLOCK;
        if (j < cols) y[j] = (kept[i] - mean) * scale * w[j] + b[j];
    }
    for (int j = lane + KEEP * BLOCK; j < cols; j += BLOCK) y[j] = (x[j] - mean) * scale * w[j] + b[j];
}
