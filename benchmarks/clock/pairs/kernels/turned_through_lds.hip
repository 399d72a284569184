/*+++
[[launch]]
kernel = "turned_through_lds"
grid = ["cols // 64", "rows // 64"]
block = [64, 4]
args = ["x", "y", "rows", "cols"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: a tile goes through LDS, so that reads and writes are of whole lines. Slow: lanes write `rows` floats apart.
extern "C" __global__ __launch_bounds__(256) void turned_through_lds(const float* __restrict__ x, float* __restrict__ y,
                                                                     int rows, int cols) {
    const int i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
#if FAST
    __shared__ float tile[64][65];
#pragma unroll
    for (int s = 0; s < 64; s += 4)
        tile[s + threadIdx.y][threadIdx.x] = x[(long)(i0 + s + threadIdx.y) * cols + j0 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int s = 0; s < 64; s += 4)
        y[(long)(j0 + s + threadIdx.y) * rows + i0 + threadIdx.x] = tile[threadIdx.x][s + threadIdx.y];
#else
#pragma unroll
    for (int s = 0; s < 64; s += 4)
        y[(long)(j0 + threadIdx.x) * rows + i0 + s + threadIdx.y] =
            x[(long)(i0 + s + threadIdx.y) * cols + j0 + threadIdx.x];
#endif
}
