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

extern "C" __global__ void clear(int* counts, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bins) counts[i] = 0;
}

extern "C" __global__ void count(const int* values, int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[values[i]], 1);
}
