/*+++
[[launch]]
kernel = "dequantise"
grid = ["ceil_div(cols, 256)", "rows"]
block = [256]
args = ["q", "scale", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
#include <stdint.h>

extern "C" __global__ void dequantise(const int8_t* q, const float* scale, float* y, int rows, int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (col < cols) {
        const size_t at = (size_t)row * cols + col;
        y[at] = scale[row] * (float)q[at];
    }
}
