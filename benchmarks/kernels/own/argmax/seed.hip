/*+++
[[launch]]
kernel = "argmax"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void argmax(const float* x, int* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float best = x[(size_t)r * cols];
    int where = 0;
    for (int c = 1; c < cols; c++) {
        float v = x[(size_t)r * cols + c];
        if (v > best) {
            best = v;
            where = c;
        }
    }
    y[r] = where;
}
