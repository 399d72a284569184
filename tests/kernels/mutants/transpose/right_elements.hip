/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(rows * cols, 256)"]
block = ["256"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One element a work-item, in the order of the output.
extern "C" __global__ __launch_bounds__(256) void transpose(const float* x, float* y, int rows, int cols) {
    const long at = (long)blockIdx.x * 256 + threadIdx.x;
    if (at >= (long)rows * cols) return;
    y[at] = x[at % rows * cols + at / rows];
}
