/*+++
[[launch]]
kernel = "clear"
grid   = ["ceil_div(bins, 64)"]
block  = [64]
args   = ["counts", "bins"]
[[launch]]
kernel = "histogram"
grid   = ["min(304, ceil_div(n, 256))"]
block  = [256]
lds    = "4 * bins"
args   = ["x", "counts", "n", "bins"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void clear(int* counts, int bins) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < bins) counts[i] = 0;
}

extern "C" __global__ void __launch_bounds__(256) histogram(const int* x, int* counts, int n, int bins) {
  extern __shared__ int mine[];
  for (int i = threadIdx.x; i < bins; i += 256) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[x[i] % bins], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += 256)
    if (mine[i] != 0) atomicAdd(&counts[i], mine[i]);
}
