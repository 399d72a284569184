/*+++
[[launch]]
kernel = "reset"
grid = [1]
block = [64]
args = ["ticket"]
[[launch]]
kernel = "persistent"
grid = [32]
block = [256]
args = ["x", "y", "ticket", "n", "factor"]
[workspace]
ticket = ["i32", "1"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void reset(unsigned* ticket) { if (threadIdx.x == 0) atomicExch(ticket, 0u); }
extern "C" __global__ void persistent(const float* x, float* y, unsigned* ticket, int n, float factor) {
    __shared__ unsigned tile;
    const unsigned tiles = (n + 255u) / 256u;
    while (true) {
        if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
        __syncthreads();
        const unsigned mine = tile;
        __syncthreads();
        if (mine >= tiles) break;
        const int i = mine * 256 + threadIdx.x;
        if (i < n) y[i] = x[i] * factor;
    }
}
