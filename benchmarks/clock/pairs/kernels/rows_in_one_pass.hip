/*+++
[[launch]]
when = "FAST"
kernel = "fused"
grid = ["rows"]
block = [256]
args = ["x", "y", "cols"]
[[launch]]
when = "not FAST"
kernel = "averaged"
grid = ["rows // 4"]
block = [256]
args = ["x", "copied", "means", "cols"]
[[launch]]
when = "not FAST"
kernel = "subtracted"
grid = ["rows"]
block = [256]
args = ["copied", "means", "y", "cols"]
[workspace]
copied = ["f32", "rows", "cols"]
means = ["f32", "rows"]
[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: a workgroup keeps its row in registers. Slow: sums, means and differences are launches of their own, with a
// copy of the matrix in a workspace between them.
extern "C" __global__ __launch_bounds__(256) void fused(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float part[4];
    const float4* row = (const float4*)(x + (long)blockIdx.x * cols);
    float sum = 0;
    for (int j = threadIdx.x; j < cols / 4; j += 256) {
        const float4 v = row[j];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = sum;
    __syncthreads();
    const float mean = (part[0] + part[1] + part[2] + part[3]) / cols;
    for (int j = threadIdx.x; j < cols / 4; j += 256) {
        const float4 v = row[j];
        ((float4*)(y + (long)blockIdx.x * cols))[j] = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
    }
}
extern "C" __global__ __launch_bounds__(256) void averaged(const float* __restrict__ x, float* __restrict__ copy,
                                                           float* __restrict__ means, int cols) {
    const int row = blockIdx.x * 4 + threadIdx.x / 64, lane = threadIdx.x % 64;
    float sum = 0;
    for (int j = lane; j < cols; j += 64) {
        const float v = x[(long)row * cols + j];
        copy[(long)row * cols + j] = v, sum += v;
    }
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (lane == 0) means[row] = sum / cols;
}
extern "C" __global__ __launch_bounds__(256) void subtracted(const float* __restrict__ copy,
                                                             const float* __restrict__ means, float* __restrict__ y,
                                                             int cols) {
    const float mean = means[blockIdx.x];
    for (int j = threadIdx.x; j < cols; j += 256)
        y[(long)blockIdx.x * cols + j] = copy[(long)blockIdx.x * cols + j] - mean;
}
