/*+++
[[launch]]
kernel = "row_sum<BLOCK, float>"
grid   = ["rows"]
block  = ["BLOCK"]
args   = ["x", "s", "null", "1.0 / 1", "cols"]

[tunables]
BLOCK = [256, 64, 512]
+++*/
#include <hip/hip_runtime.h>

template <int BLOCK, class T>
__global__ void row_sum(const T* x, T* s, const T* __restrict__ bias, float scale, int cols) {
    __shared__ T kept[BLOCK];
    T sum = 0;
    for (int j = threadIdx.x; j < cols; j += BLOCK) sum += x[(long)blockIdx.x * cols + j];
    kept[threadIdx.x] = sum;
    __syncthreads();
    for (int k = BLOCK / 2; k > 0; k >>= 1) {
        if (threadIdx.x < k) kept[threadIdx.x] += kept[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x) s[blockIdx.x] = scale * kept[0] + (bias ? *bias : 0);
}
