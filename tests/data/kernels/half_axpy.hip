/*+++
[[launch]]
kernel = "half_axpy"
grid   = ["ceil_div(n, 512)"]
block  = [256]
args   = ["x", "y", "alpha", "n"]
+++*/
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

extern "C" __global__ void __launch_bounds__(256) half_axpy(const __half2* x, __half2* y, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) y[i] = __hfma2(__float2half2_rn(alpha), x[i], y[i]);
}
