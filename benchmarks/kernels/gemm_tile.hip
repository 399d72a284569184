/*+++
[[launch]]
kernel = "gemm_tile"
grid = ["cols // TILE", "rows // TILE"]
block = ["TILE", "TILE"]
args = ["a", "b", "c", "rows", "cols", "inner"]

[tunables]
TILE = [16, 8, 32]
LDS = [1, 0]   # 0: straight from global memory
PAD = [0, 1]
+++*/
#include <hip/hip_runtime.h>

// One work-item an element of C; extents are multiples of TILE.
extern "C" __global__ __launch_bounds__(TILE * TILE) void gemm_tile(const float* __restrict__ a, const float* __restrict__ b,
                                                                    float* __restrict__ c, int rows, int cols, int inner) {
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int j = blockIdx.x * TILE + tx, i = blockIdx.y * TILE + ty;
    float sum = 0.0f;
#if LDS
    __shared__ float as[TILE * (TILE + PAD)], bs[TILE * (TILE + PAD)];
    for (int k0 = 0; k0 < inner; k0 += TILE) {
        as[ty * (TILE + PAD) + tx] = a[(long)i * inner + k0 + tx];
        bs[ty * (TILE + PAD) + tx] = b[(long)(k0 + ty) * cols + j];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += as[ty * (TILE + PAD) + k] * bs[k * (TILE + PAD) + tx];
        __syncthreads();
    }
#else
    for (int k = 0; k < inner; ++k) sum += a[(long)i * inner + k] * b[(long)k * cols + j];
#endif
    c[(long)i * cols + j] = sum;
}
