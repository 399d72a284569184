/*+++
[[launch]]
kernel = "tiled_transpose"
grid   = ["ceil_div(cols, TILE)", "ceil_div(rows, TILE)"]
block  = ["TILE", 8]
args   = ["x", "y", "rows", "cols"]

[tunables]
TILE = [32, 64]
[constraints]
fits = "TILE * (TILE + 1) * 4 <= 65536"
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(TILE * 8)
tiled_transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float tile[TILE][TILE + 1];
  const int from_col = blockIdx.x * TILE + threadIdx.x, from_row = blockIdx.y * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += 8)
    if (from_col < cols && from_row + i < rows)
      tile[threadIdx.y + i][threadIdx.x] = x[static_cast<size_t>(from_row + i) * cols + from_col];
  __syncthreads();
  const int to_col = blockIdx.y * TILE + threadIdx.x, to_row = blockIdx.x * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += 8)
    if (to_col < rows && to_row + i < cols)
      y[static_cast<size_t>(to_row + i) * rows + to_col] = tile[threadIdx.x][threadIdx.y + i];
}
