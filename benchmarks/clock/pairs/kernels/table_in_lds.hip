/*+++
[[launch]]
kernel = "table_in_lds"
grid = ["n // 256"]
block = [256]
args = ["x", "kind", "table", "y", "n"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: factors chosen by data come from LDS. Slow: each work-item keeps a copy in an array that it indexes by data,
// which no register can be, so the array is private memory, 128 bytes a lane.
extern "C" __global__ __launch_bounds__(256) void table_in_lds(const float* __restrict__ x,
                                                               const int* __restrict__ kind,
                                                               const float* __restrict__ table, float* __restrict__ y,
                                                               int n) {
    const int i = blockIdx.x * 256 + threadIdx.x, first = kind[i] & 15;
    float sum = 0;
#if FAST
    __shared__ float factor[32];
    if (threadIdx.x < 32) factor[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
#else
    volatile float factor[32];
    for (int p = 0; p < 32; ++p) factor[p] = table[p];
#endif
#pragma unroll
    for (int p = 0; p < 16; ++p) sum += x[(long)p * n + (i + p < n ? i + p : i + p - n)] * factor[first + p];
    y[i] = sum;
}
