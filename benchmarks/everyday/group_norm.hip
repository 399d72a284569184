/*+++
[[launch]]
kernel = "group_norm"
grid = ["batch * 32"]
block = [1024]
args = ["x", "weight", "bias", "y", "channels", "height * width"]
+++*/
#include <hip/hip_runtime.h>

__device__ float block_sum(float v, float* shared) {
    for (int step = 32; step > 0; step /= 2) v += __shfl_xor(v, step);
    __syncthreads();
    if (threadIdx.x % 64 == 0) shared[threadIdx.x / 64] = v;
    __syncthreads();
    float sum = 0.0f;
    for (int wave = 0; wave < 16; ++wave) sum += shared[wave];
    return sum;
}

// A block a group, whose channels lie side by side; there are few groups, so that blocks are large.
extern "C" __global__ __launch_bounds__(1024) void group_norm(const float* __restrict__ x,
                                                              const float* __restrict__ weight,
                                                              const float* __restrict__ bias, float* __restrict__ y,
                                                              int channels, int pixels) {
    __shared__ float shared[16];
    const int per_group = channels / 32, n = per_group * pixels, first = blockIdx.x % 32 * per_group;
    const float* in = x + (long)blockIdx.x * n;
    float* out = y + (long)blockIdx.x * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 1024) sum += in[i];
    const float mean = block_sum(sum, shared) / n;
    for (int i = threadIdx.x; i < n; i += 1024) squares += (in[i] - mean) * (in[i] - mean);
    const float scale = rsqrtf(block_sum(squares, shared) / n + 1e-5f);
    for (int c = 0; c < per_group; ++c)
        for (int i = threadIdx.x; i < pixels; i += 1024)
            out[c * pixels + i] = (in[c * pixels + i] - mean) * scale * weight[first + c] + bias[first + c];
}
