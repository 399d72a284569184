/*+++
[[launch]]
kernel = "swiglu"
grid = ["rows"]
block = [256]
args = ["x", "y", "hidden"]
+++*/
#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

// A block a row.
extern "C" __global__ void swiglu(const __hip_bfloat16* __restrict__ x, __hip_bfloat16* __restrict__ y, int hidden) {
    const __hip_bfloat16* gate = x + (long)blockIdx.x * 2 * hidden;
    const __hip_bfloat16* up = gate + hidden;
    __hip_bfloat16* out = y + (long)blockIdx.x * hidden;
    for (int j = threadIdx.x; j < hidden; j += 256) {
        const float g = __bfloat162float(gate[j]);
        out[j] = __float2bfloat16(g / (1.0f + expf(-g)) * __bfloat162float(up[j]));
    }
}
