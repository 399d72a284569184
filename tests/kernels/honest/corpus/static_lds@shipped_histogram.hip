/*+++
[[launch]]
kernel = "count"
grid = ["min(304, ceil_div(n, 512))"]
block = [512]
args = ["values", "counts", "n", "bins"]
fill = {counts = 0}
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(512) void count(const int* __restrict__ values, int* counts, int n, int bins) {
    __shared__ int own[4096];
    for (int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) __hip_atomic_fetch_add(&own[values[i]], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) if (int c = own[b]) __hip_atomic_fetch_add(&counts[b], c, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
