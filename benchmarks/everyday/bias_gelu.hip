/*+++
[[launch]]
kernel = "bias_gelu"
grid = ["rows"]
block = [256]
args = ["x", "bias", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>

// A block a row.
extern "C" __global__ void bias_gelu(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y,
                                     int cols) {
    const long row = (long)blockIdx.x * cols;
    for (int j = threadIdx.x; j < cols; j += 256) {
        const float v = x[row + j] + bias[j];
        y[row + j] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
}
