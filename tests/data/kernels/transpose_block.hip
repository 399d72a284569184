/*+++
[[launch]]
kernel = "transpose_block"
grid = ["ceil_div(READ * cols + (1 - READ) * rows, ACROSS)", "ceil_div(READ * rows + (1 - READ) * cols, DOWN)"]
block = ["ACROSS", "DOWN"]
args = ["x", "y", "rows", "cols"]

[tunables]
ACROSS = [32, 16, 8, 64, 4, 128, 256]
DOWN = [8, 16, 32, 4, 2, 1]
READ = [1, 0]   # 1: neighbouring lanes read neighbours; 0: they write neighbours

[constraints]
fits = "ACROSS * DOWN <= 1024"
+++*/
#include <hip/hip_runtime.h>

// One work-item an element, no LDS.
extern "C" __global__ __launch_bounds__(ACROSS * DOWN) void transpose_block(const float* __restrict__ x,
                                                                           float* __restrict__ y, int rows, int cols) {
    const int a = blockIdx.x * ACROSS + threadIdx.x, b = blockIdx.y * DOWN + threadIdx.y;
    if (READ) {
        if (a < cols && b < rows) y[(long)a * rows + b] = x[(long)b * cols + a];
    } else {
        if (a < rows && b < cols) y[(long)b * rows + a] = x[(long)a * cols + b];
    }
}
