/*+++
[[launch]]
kernel = "vector_add"
grid   = ["ceil_div(n, 256 * WIDE)"]
block  = [256]
args   = ["a", "b", "c", "n:i64"]

[tunables]
WIDE = [4, 1, 8]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long n) {
  const long first = (static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x) * WIDE;
#pragma unroll
  for (int i = 0; i < WIDE; ++i)
    if (first + i < n) c[first + i] = a[first + i] + b[first + i];
}
