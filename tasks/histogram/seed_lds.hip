/*+++
[[launch]]
kernel = "clear"
grid = ["ceil_div(bins, 256)"]
block = [256]
args = ["counts", "bins"]

[[launch]]
kernel = "count"
grid = ["min(BLOCKS, ceil_div(n, BLOCK))"]
block = ["BLOCK"]
lds = "4 * bins * min(COPIES, max(1, 15360 // bins))"
args = ["values", "counts", "n", "bins"]

[tunables]
BLOCK = [1024, 256, 512]
BLOCKS = [304, 608, 1216]
COPIES = [4, 1, 16, 32]    # of the counts, so that neighbouring lanes meet less often
+++*/
#include <hip/hip_runtime.h>

typedef int Pack __attribute__((ext_vector_type(4)));

extern "C" __global__ __launch_bounds__(256) void clear(int* __restrict__ counts, int bins) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < bins) counts[i] = 0;
}

// A block counts in LDS and adds its counts to memory once. The copies of a count are neighbours, in banks of their own.
extern "C" __global__ __launch_bounds__(BLOCK) void count(const int* __restrict__ values, int* __restrict__ counts,
                                                          int n, int bins) {
    extern __shared__ int own[];
    const int copies = min(COPIES, max(1, 15360 / bins)), mine = threadIdx.x % copies;
    for (int b = threadIdx.x; b < bins * copies; b += BLOCK) own[b] = 0;
    __syncthreads();
    const int item = blockIdx.x * BLOCK + threadIdx.x, step = gridDim.x * BLOCK;
    const Pack* packs = (const Pack*)values;
    for (int p = item; p < n / 4; p += step) {
        const Pack pack = packs[p];
#pragma unroll
        for (int e = 0; e < 4; ++e) atomicAdd(&own[pack[e] * copies + mine], 1);
    }
    if (item < n % 4) atomicAdd(&own[values[n - 1 - item] * copies + mine], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += BLOCK) {
        int sum = 0;
        for (int copy = 0; copy < copies; ++copy) sum += own[b * copies + copy];
        if (sum != 0) atomicAdd(&counts[b], sum);
    }
}
