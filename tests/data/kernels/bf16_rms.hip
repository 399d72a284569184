/*+++
[[launch]]
kernel = "bf16_rms"
grid   = ["rows"]
block  = [256]
args   = ["x", "w", "y", "eps", "cols"]
+++*/
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>

extern "C" __global__ void __launch_bounds__(256)
bf16_rms(const __hip_bfloat16* x, const __hip_bfloat16* w, __hip_bfloat16* y, float eps, int cols) {
  __shared__ float part[4];
  const __hip_bfloat16* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += 256) {
    const float v = __bfloat162float(row[i]);
    sum = fmaf(v, v, sum);
  }
  for (int step = 32; step > 0; step >>= 1) sum += __shfl_down(sum, step);
  if (__lane_id() == 0) part[threadIdx.x >> 6] = sum;
  __syncthreads();
  const float scale = rsqrtf((part[0] + part[1] + part[2] + part[3]) / cols + eps);
  for (int i = threadIdx.x; i < cols; i += 256)
    y[static_cast<size_t>(blockIdx.x) * cols + i] =
        __float2bfloat16(__bfloat162float(row[i]) * scale * __bfloat162float(w[i]));
}
