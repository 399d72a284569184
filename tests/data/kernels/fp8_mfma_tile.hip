/*+++
[[launch]]
kernel = "fp8_mfma_tile"
grid   = ["ceil_div(n, 32)", "ceil_div(m, 32)"]
block  = [64]
args   = ["a", "b", "c", "m", "n", "k"]
+++*/
// One wave a 32x32 tile of c = a b^T: a [m, k] and b [n, k] in e4m3fnuz, k a multiple of 16, m and n of 32.
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

typedef float f32x16 __attribute__((ext_vector_type(16)));

extern "C" __global__ void __launch_bounds__(64)
fp8_mfma_tile(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b, __hip_bfloat16* c, int m, int n, int k) {
  const int lane = threadIdx.x, row = blockIdx.y * 32, col = blockIdx.x * 32;
  const long* left = reinterpret_cast<const long*>(a + static_cast<size_t>(row + lane % 32) * k + lane / 32 * 8);
  const long* right = reinterpret_cast<const long*>(b + static_cast<size_t>(col + lane % 32) * k + lane / 32 * 8);
  f32x16 sum = {};
  for (int i = 0; i < k / 8; i += 2)
    sum = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(left[i], right[i], sum, 0, 0, 0);
  for (int r = 0; r < 16; ++r) {
    const int i = row + 8 * (r / 4) + 4 * (lane / 32) + r % 4;
    c[static_cast<size_t>(i) * n + col + lane % 32] = __float2bfloat16(sum[r]);
  }
}
