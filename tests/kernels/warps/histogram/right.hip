/*+++
[[launch]]
kernel = "count"
grid = ["min(ceil_div(n, 1024), 264)"]
block = [256]
args = ["values", "counts", "n", "bins"]
fill = {counts = 0}
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(256) void count(const int* __restrict__ values, int* __restrict__ counts, int n, int bins) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&counts[values[i]], 1);
}
