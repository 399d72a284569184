/*+++
[[launch]]
kernel = "block_sum"
grid   = ["rows"]
block  = ["THREADS"]
lds    = "4 * ceil_div(THREADS, 64)"
args   = ["x", "y", "cols"]

[tunables]
THREADS = [256, 64, 512, 1024]
+++*/
#include <hip/hip_runtime.h>

__device__ float wave_sum(float v) {
  for (int step = 32; step > 0; step >>= 1) v += __shfl_xor(v, step);
  return v;
}

__global__ void __launch_bounds__(THREADS) block_sum(const float* x, float* y, int cols) {
  extern __shared__ float part[];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
  sum = wave_sum(sum);
  if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x < 64) {
    sum = threadIdx.x < THREADS / 64 ? part[threadIdx.x] : 0.0f;
    sum = wave_sum(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
  }
}
