#include <hip/hip_runtime.h>

#define TILE 32

extern "C" __global__ __launch_bounds__(256) void tiled_transpose(const float* a, float* c, int n) {
    __shared__ float tile[TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    for (int i = 0; i < TILE; i += 8) tile[y + i][x] = a[(row + i) * n + column];
    __syncthreads();
    column = blockIdx.y * TILE + x;
    row = blockIdx.x * TILE + y;
    for (int i = 0; i < TILE; i += 8) c[(row + i) * n + column] = tile[x][y + i];
}
