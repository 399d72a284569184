/*+++
[[launch]]
kernel = "softmax"
grid = ["numSlice"]
block = [256]
args = ["src", "dest", "sliceSize"]
+++*/
#include <hip/hip_runtime.h>

// A block a row, in three passes; the last two find the row in the cache.
extern "C" __global__ void softmax(const float* __restrict__ src, float* __restrict__ dest, int cols) {
    __shared__ float tops[4], sums[4];
    const float* x = src + (long)blockIdx.x * cols;
    float* y = dest + (long)blockIdx.x * cols;
    float top = -INFINITY, sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 256) top = fmaxf(top, x[j]);
    for (int step = 32; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
    if (threadIdx.x % 64 == 0) tops[threadIdx.x / 64] = top;
    __syncthreads();
    top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    for (int j = threadIdx.x; j < cols; j += 256) sum += expf(x[j] - top);
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
    __syncthreads();
    sum = sums[0] + sums[1] + sums[2] + sums[3];
    for (int j = threadIdx.x; j < cols; j += 256) y[j] = expf(x[j] - top) / sum;
}
