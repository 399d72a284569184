/*+++
[[launch]]
kernel = "clear"
grid = ["ceil_div(bins, 256)"]
block = [256]
args = ["counts", "bins"]

[[launch]]
kernel = "count"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["values", "counts", "n"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void clear(int* __restrict__ counts, int bins) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < bins) counts[i] = 0;
}

// Every value is one atomic addition in memory.
extern "C" __global__ __launch_bounds__(256) void count(const int* __restrict__ values, int* __restrict__ counts, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(&counts[values[i]], 1);
}
