/*+++
[[launch]]
kernel = "rms_norm"
grid = ["rows"]
block = [256]
args = ["x", "weight", "y", "cols"]
+++*/
#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

// A block a row: waves add by shuffles, the block through LDS; the second pass reads the row from the cache.
extern "C" __global__ void rms_norm(const __hip_bfloat16* __restrict__ x, const __hip_bfloat16* __restrict__ weight,
                                    __hip_bfloat16* __restrict__ y, int cols) {
    __shared__ float sums[4];
    const long row = (long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 256) {
        const float v = __bfloat162float(x[row + j]);
        sum += v * v;
    }
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
    __syncthreads();
    const float scale = rsqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / cols + 1e-6f);
    for (int j = threadIdx.x; j < cols; j += 256)
        y[row + j] = __float2bfloat16(__bfloat162float(weight[j]) * (__bfloat162float(x[row + j]) * scale));
}
