/*+++
[[launch]]
kernel = "add_layer_norm"
grid = ["rows"]
block = [256]
lds = "4 * cols"
args = ["x", "residual", "weight", "bias", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>

__device__ float block_sum(float v, float* shared) {
    for (int step = 32; step > 0; step /= 2) v += __shfl_xor(v, step);
    __syncthreads();
    if (threadIdx.x % 64 == 0) shared[threadIdx.x / 64] = v;
    __syncthreads();
    return shared[0] + shared[1] + shared[2] + shared[3];
}

// A block a row; the sum of both inputs stays in LDS between the passes.
extern "C" __global__ void add_layer_norm(const float* __restrict__ x, const float* __restrict__ residual,
                                          const float* __restrict__ weight, const float* __restrict__ bias,
                                          float* __restrict__ y, int cols) {
    extern __shared__ float values[];
    __shared__ float shared[4];
    const long row = (long)blockIdx.x * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 256) sum += values[j] = x[row + j] + residual[row + j];
    const float mean = block_sum(sum, shared) / cols;
    for (int j = threadIdx.x; j < cols; j += 256) squares += (values[j] - mean) * (values[j] - mean);
    const float scale = rsqrtf(block_sum(squares, shared) / cols + 1e-5f);
    for (int j = threadIdx.x; j < cols; j += 256) y[row + j] = (values[j] - mean) * scale * weight[j] + bias[j];
}
