/*+++
[[launch]]
kernel = "layer_norm"
grid = ["B * T"]
block = [256]
args = ["inp", "weight", "bias", "out", "mean", "rstd", "C"]
+++*/
#include <hip/hip_runtime.h>

__device__ float block_sum(float v, float* shared) {
    for (int step = 32; step > 0; step /= 2) v += __shfl_xor(v, step);
    __syncthreads();
    if (threadIdx.x % 64 == 0) shared[threadIdx.x / 64] = v;
    __syncthreads();
    return shared[0] + shared[1] + shared[2] + shared[3];
}

// A block a row, in three passes.
extern "C" __global__ void layer_norm(const float* __restrict__ inp, const float* __restrict__ weight,
                                      const float* __restrict__ bias, float* __restrict__ out,
                                      float* __restrict__ means, float* __restrict__ rstds, int cols) {
    __shared__ float shared[4];
    const long row = (long)blockIdx.x * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 256) sum += inp[row + j];
    const float mean = block_sum(sum, shared) / cols;
    for (int j = threadIdx.x; j < cols; j += 256) squares += (inp[row + j] - mean) * (inp[row + j] - mean);
    const float scale = rsqrtf(block_sum(squares, shared) / cols + 1e-5f);
    for (int j = threadIdx.x; j < cols; j += 256) out[row + j] = (inp[row + j] - mean) * scale * weight[j] + bias[j];
    if (threadIdx.x == 0) means[blockIdx.x] = mean, rstds[blockIdx.x] = scale;
}
