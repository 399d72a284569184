/*+++
[[launch]]
kernel = "softmax"
grid = ["rows"]
block = [256]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// As people write it first: a block a row, a maximum and a sum by trees in shared memory, then the quotient.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
    __shared__ float part[256];
    const int row = blockIdx.x, tid = threadIdx.x;
    const float* in = x + (size_t)row * cols;
    float* out = y + (size_t)row * cols;

    float top = -INFINITY;
    for (int j = tid; j < cols; j += blockDim.x) top = fmaxf(top, in[j]);
    part[tid] = top;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) part[tid] = fmaxf(part[tid], part[tid + s]);
        __syncthreads();
    }
    top = part[0];
    __syncthreads();

    float sum = 0.0f;
    for (int j = tid; j < cols; j += blockDim.x) sum += expf(in[j] - top);
    part[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) part[tid] += part[tid + s];
        __syncthreads();
    }
    sum = part[0];

    for (int j = tid; j < cols; j += blockDim.x) out[j] = expf(in[j] - top) / sum;
}
