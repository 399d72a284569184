/*+++
[[launch]]
kernel = "gradients"
grid = ["ceil_div(cols, 64)"]
block = [64]
args = ["x", "bias", "dy", "dx", "dbias", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a column.
extern "C" __global__ __launch_bounds__(64) void gradients(const float* __restrict__ x, const float* __restrict__ bias,
                                                           const float* __restrict__ dy, float* __restrict__ dx,
                                                           float* __restrict__ dbias, int rows, int cols) {
    const int j = blockIdx.x * 64 + threadIdx.x;
    if (j >= cols) return;
    float sum = 0.0f;
    for (int i = 0; i < rows; ++i) {
        const long at = (long)i * cols + j;
        const float v = x[at] + bias[j];
        const float t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
        const float slope = 0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * 0.7978845608f * (1.0f + 0.134145f * v * v);
        dx[at] = dy[at] * slope;
        sum += dx[at];
    }
    dbias[j] = sum;
}
