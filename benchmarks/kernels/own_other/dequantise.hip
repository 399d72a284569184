/*+++
[[launch]]
kernel = "widen"
grid = ["ceil_div(cols, 64)", "ceil_div(rows, 4)"]
block = [64, 4]
args = ["q", "scale", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void widen(const signed char* q, const float* s, float* f, int rows, int cols) {
    const int r = blockIdx.y * blockDim.y + threadIdx.y; const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    if (r >= rows) return;
    const signed char* from = q + (size_t)r * cols;
    float* to = f + (size_t)r * cols;
    to[c] = s[r] * from[c];
}
