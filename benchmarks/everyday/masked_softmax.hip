/*+++
[[launch]]
kernel = "masked_softmax"
grid = ["batch * heads * queries"]
block = [256]
args = ["scores", "mask", "y", "queries", "keys"]
+++*/
#include <hip/hip_runtime.h>

// A block a row of scores, in three passes.
extern "C" __global__ void masked_softmax(const float* __restrict__ scores, const bool* __restrict__ mask,
                                          float* __restrict__ y, int queries, int keys) {
    __shared__ float tops[4], sums[4];
    const float* x = scores + (long)blockIdx.x * keys;
    const bool* m = mask + (long)(blockIdx.x % queries) * keys;
    float* out = y + (long)blockIdx.x * keys;
    const int wave = threadIdx.x / 64;
    float top = -INFINITY, sum = 0.0f;
    for (int j = threadIdx.x; j < keys; j += 256) top = fmaxf(top, m[j] ? x[j] : -1e9f);
    for (int step = 32; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
    if (threadIdx.x % 64 == 0) tops[wave] = top;
    __syncthreads();
    top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    for (int j = threadIdx.x; j < keys; j += 256) sum += expf((m[j] ? x[j] : -1e9f) - top);
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) sums[wave] = sum;
    __syncthreads();
    sum = sums[0] + sums[1] + sums[2] + sums[3];
    for (int j = threadIdx.x; j < keys; j += 256) out[j] = expf((m[j] ? x[j] : -1e9f) - top) / sum;
}
