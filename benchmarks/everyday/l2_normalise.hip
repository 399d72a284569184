/*+++
[[launch]]
kernel = "l2_normalise"
grid = ["rows"]
block = [256]
args = ["x", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>

// A block a row, in two passes.
extern "C" __global__ void l2_normalise(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float sums[4];
    const long row = (long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 256) sum += x[row + j] * x[row + j];
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
    __syncthreads();
    const float length = fmaxf(sqrtf(sums[0] + sums[1] + sums[2] + sums[3]), 1e-12f);
    for (int j = threadIdx.x; j < cols; j += 256) y[row + j] = x[row + j] / length;
}
