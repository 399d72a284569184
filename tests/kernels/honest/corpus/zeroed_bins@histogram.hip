/*+++
[[launch]]
fill   = {h = 0}
kernel = "count_bytes<256>"
grid   = ["min(ceil_div(n, 4096), 1024)"]
block  = [256]
args   = ["x", "h", "n:u64"]
+++*/
#include <hip/hip_runtime.h>

template <unsigned BINS> __global__ void count_bytes(const unsigned char* __restrict__ x, int* h, size_t n) {
    __shared__ int own[BINS];
    for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(&own[x[i]], 1);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&h[b], own[b]);
}
