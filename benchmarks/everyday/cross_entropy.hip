/*+++
[[launch]]
kernel = "row_loss"
grid = ["rows"]
block = [256]
args = ["logits", "labels", "losses", "classes"]
[[launch]]
kernel = "average"
grid = [1]
block = [256]
args = ["losses", "y", "rows"]

[workspace]
losses = ["f32", "rows"]
+++*/
#include <hip/hip_runtime.h>

// A block a row: the greatest logit, the sum of exponentials, the loss of the label.
extern "C" __global__ void row_loss(const float* __restrict__ logits, const long* __restrict__ labels,
                                    float* __restrict__ losses, int classes) {
    __shared__ float tops[4], sums[4];
    const float* x = logits + (long)blockIdx.x * classes;
    float top = -INFINITY, sum = 0.0f;
    for (int j = threadIdx.x; j < classes; j += 256) top = fmaxf(top, x[j]);
    for (int step = 32; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
    if (threadIdx.x % 64 == 0) tops[threadIdx.x / 64] = top;
    __syncthreads();
    top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    for (int j = threadIdx.x; j < classes; j += 256) sum += expf(x[j] - top);
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        losses[blockIdx.x] = logf(sums[0] + sums[1] + sums[2] + sums[3]) + top - x[labels[blockIdx.x]];
}

extern "C" __global__ void average(const float* __restrict__ losses, float* __restrict__ y, int rows) {
    __shared__ float sums[4];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < rows; i += 256) sum += losses[i];
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[0] = (sums[0] + sums[1] + sums[2] + sums[3]) / rows;
}
