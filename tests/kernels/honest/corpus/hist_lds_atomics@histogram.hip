/*+++
[[launch]]
kernel = "zero_bins"
grid = [1]
block = [256]
args = ["h"]
[[launch]]
kernel = "histogram256"
grid = ["min(ceil_div(n, 1024), 64)"]
block = [256]
args = ["x", "h", "n"]
+++*/
#include <hip/hip_runtime.h>
#include <cstdint>
extern "C" __global__ void zero_bins(int* h) { h[threadIdx.x] = 0; }
extern "C" __global__ void histogram256(const uint8_t* __restrict__ x, int* __restrict__ h, int n) {
    __shared__ unsigned int bins[4][256];
    for (int w = 0; w < 4; ++w) bins[w][threadIdx.x] = 0u;
    __syncthreads();
    unsigned int* mine = bins[threadIdx.x >> 6];
    const int stride = gridDim.x * blockDim.x;
    const int words = n / 4;
    const uchar4* x4 = reinterpret_cast<const uchar4*>(x);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
        const uchar4 v = x4[i];
        atomicAdd(mine + v.x, 1u); atomicAdd(mine + v.y, 1u);
        atomicAdd(&mine[v.z], 1u); atomicAdd(&mine[v.w], 1u);
    }
    for (int i = words * 4 + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicInc(&mine[x[i]], 0xffffffffu);
    __syncthreads();
    const unsigned total = bins[0][threadIdx.x] + bins[1][threadIdx.x] + bins[2][threadIdx.x] + bins[3][threadIdx.x];
    if (total) __hip_atomic_fetch_add(&h[threadIdx.x], (int)total, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
